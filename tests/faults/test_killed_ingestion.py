"""kill -9 at random points of an ingestion: no reader ever sees a file missing or half."""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx

from rag_core.ingestion.identity import parent_id, place_of
from tests.flow.running_house import PATIENCE, RunningHouse, running_house
from tests.shelf_builders import write_files

FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
POINTS = 100 if FULL else 5
FILES = 8
EDITION = re.compile(r"edition(\d+)")
BOOK = "course"
NAMES = [f"page-{number}.md" for number in range(FILES)]


def write_edition(folder: Path, edition: int) -> None:
    """Every section of every file names its edition; a file's length changes with it."""
    sections = 2 + edition % 3
    write_files(
        folder,
        {
            name: "\n\n".join(
                f"## Part {part}\n\n" + f"In {name} part {part} is of edition{edition}. " * 25
                for part in range(sections)
            )
            for name in NAMES
        },
    )


@dataclass
class Library:
    """What readers may see: whole files of the edition before, or of the one being read."""

    folder: Path
    edition: int = 0
    looks: int = 0

    async def check_file(self, web: httpx.AsyncClient, name: str) -> int:
        """The edition that a reader sees of a file, which must be whole."""
        lesson = parent_id(place_of(BOOK, source_file=name, claim=None))
        answer = await web.get(f"/lessons/{lesson}")
        assert answer.status_code == 200, f"{name} is missing"
        chunks: Sequence[dict[str, Any]] = answer.json()["chunks"]
        editions = {int(found) for chunk in chunks for found in EDITION.findall(chunk["text"])}
        assert len(editions) == 1, f"{name} is of the editions {editions}"
        assert [chunk["chunk_index"] for chunk in chunks] == list(range(chunks[0]["total_chunks"]))
        (edition,) = editions
        assert len(chunks) == 2 + edition % 3, f"{name} is half there"
        assert edition in {self.edition - 1, self.edition}, f"{name} is of an old edition"
        self.looks += 1
        return edition

    async def read_until_killed(self, web: httpx.AsyncClient) -> None:
        """A reader who looks at one file after the other until nobody answers any more."""
        try:
            while True:
                await self.check_file(web, random.choice(NAMES))
        except httpx.TransportError:
            return


async def start(web: httpx.AsyncClient, folder: Path) -> UUID:
    job = await web.post("/jobs", json={"book_id": BOOK, "paths": [str(folder)]})
    assert job.status_code == 202, job.text
    return UUID(job.json()["job_id"])


async def ended(
    web: httpx.AsyncClient, job_id: UUID, library: Library | None = None
) -> dict[str, Any]:
    """The job when it is over; until then somebody reads."""
    async with asyncio.timeout(PATIENCE):
        while True:
            job: dict[str, Any] = (await web.get(f"/jobs/{job_id}")).json()
            if job["status"] not in {"queued", "running"}:
                return job
            if library is not None:
                await library.check_file(web, random.choice(NAMES))
            await asyncio.sleep(0.01)


async def check_whole(web: httpx.AsyncClient, library: Library) -> None:
    """Every file is of the newest edition, and the totals are what the index holds."""
    for name in NAMES:
        assert await library.check_file(web, name) == library.edition
    (book,) = (await web.get("/books")).json()["books"]
    assert (book["files"], book["chunks"]) == (FILES, FILES * (2 + library.edition % 3))
    found = (await web.post("/search", json={"text": "part of edition", "limit": 10})).json()
    for result in found["results"]:
        assert f"edition{library.edition}." in result["text"]


async def kill_at(house: RunningHouse, library: Library, delay: float) -> UUID:
    """Begin a new edition, read on, and end the process in the middle of it."""
    library.edition += 1
    write_edition(library.folder, library.edition)
    job_id = await start(house.web, library.folder)
    readers = [asyncio.create_task(library.read_until_killed(house.web)) for _ in range(3)]
    await asyncio.sleep(delay)
    await house.kill()
    await asyncio.gather(*readers)
    return job_id


async def test_a_process_killed_at_any_point_leaves_every_file_whole(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    library = Library(folder)
    write_edition(folder, 0)
    settings = {"FOOTNOTE_JOB_FOLDERS": str(folder)}
    interrupted = 0
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(running_house(tmp_path, **settings))
        began = time.monotonic()
        job_id = await start(house.web, folder)
        await ended(house.web, job_id)
        took = time.monotonic() - began
        for _ in range(POINTS):
            delay = random.uniform(0, 1.2 * took)
            job_id = await kill_at(house, library, delay)
            house = await stack.enter_async_context(running_house(tmp_path, **settings))
            before = [await library.check_file(house.web, name) for name in NAMES]
            interrupted += library.edition - 1 in before
            job = await ended(house.web, job_id, library)
            assert job["status"] == "completed", job
            assert job["files_processed"] + job["files_skipped"] == FILES
            await check_whole(house.web, library)
    print(f"killed {POINTS} times, {interrupted} in the middle; {library.looks} looks at files")
