"""Git checkouts are brought up to date before they are read."""

from __future__ import annotations

import subprocess
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from rag_core.ingestion.gathering import AsTheyLie, Gathered, Gathering
from rag_core.ingestion.job import IngestionJob, IngestionMode, JobStatus
from rag_core.websites.fetcher import Fetcher

AUTHOR = ("-c", "user.name=Author", "-c", "user.email=author@example.com")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *AUTHOR, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, name: str) -> None:
    (folder / name).write_text(f"# {name}\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-m", name)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone of `tmp_path/origin`."""
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "--initial-branch", "main")
    commit(origin, "one.md")
    git(tmp_path, "clone", str(origin), "checkout")
    return tmp_path / "checkout"


def fetcher() -> AbstractAsyncContextManager[Fetcher]:
    return Fetcher(version="test")


async def gathered(tmp_path: Path, *sources: str) -> Gathered:
    job = IngestionJob(
        job_id=uuid4(),
        book_id="course",
        mode=IngestionMode.INCREMENTAL,
        status=JobStatus.RUNNING,
        started_at=datetime.now(UTC),
        sources=sources,
    )
    return await Gathering(tmp_path / "websites", fetcher=fetcher).gather(job, lambda *_: None)


async def test_a_checkout_is_pulled_and_a_folder_is_left_alone(
    tmp_path: Path, checkout: Path
) -> None:
    commit(tmp_path / "origin", "two.md")
    as_it_lies = await gathered(tmp_path, str(checkout))
    assert as_it_lies == Gathered(sources=(str(checkout),))
    assert not (checkout / "two.md").exists()
    assert await gathered(tmp_path, f"git:{checkout}") == Gathered(sources=(str(checkout),))
    assert (checkout / "two.md").exists()


async def test_a_checkout_that_cannot_be_pulled_is_read_as_it_is(
    tmp_path: Path, checkout: Path
) -> None:
    commit(tmp_path / "origin", "two.md")
    commit(checkout, "three.md")
    got = await gathered(tmp_path, f"git:{checkout}")
    assert got.sources == (str(checkout),)
    (failure,) = got.failures
    assert failure.source_file == str(checkout)
    assert failure.reason.startswith("git pull failed: ")


async def test_hooks_of_a_checkout_are_not_run(tmp_path: Path, checkout: Path) -> None:
    hook = checkout / ".git" / "hooks" / "post-merge"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o700)
    commit(tmp_path / "origin", "two.md")
    await gathered(tmp_path, f"git:{checkout}")
    assert (checkout / "two.md").exists()
    assert not (tmp_path / "ran").exists()


async def test_where_nothing_may_be_fetched_addresses_are_refused() -> None:
    job = IngestionJob(
        job_id=uuid4(),
        book_id="course",
        mode=IngestionMode.FULL,
        status=JobStatus.RUNNING,
        started_at=datetime.now(UTC),
        sources=("/docs", "https://example.com/"),
    )
    got = await AsTheyLie().gather(job, lambda *_: None)
    assert got.sources == ("/docs",)
    assert [failure.source_file for failure in got.failures] == ["https://example.com/"]
