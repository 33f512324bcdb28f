"""footnote books and footnote sources, beside a running bot and without one."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx

from tests.flow.running_house import PATIENCE, RunningHouse, footnote, running_house
from tests.peers.website import website_peer
from tests.shelf_builders import long_text, write_files

FAILED, WRONG = 1, 2
SECRET = "a secret for the hooks"


async def printed(*arguments: str, folder: Path, **more: Any) -> Any:
    return json.loads((await footnote(*arguments, "--json", folder=folder, **more))[0])


async def test_books_are_bound_and_removed_without_a_bot(tmp_path: Path) -> None:
    write_files(tmp_path, {"docs/a.md": f"# A\n\n{long_text('gear')}"})
    for book in ("course", "faq"):
        await footnote("ingest", "docs", "--book", book, folder=tmp_path)
    bound = await printed("books", "bind", "discord", "123", "faq", "course", folder=tmp_path)
    place = {"platform": "discord", "tenant": "", "channel_id": "123"}
    assert bound == {"bindings": [{**place, "book_ids": ["faq", "course"]}]}
    (listed,) = (await printed("books", "bindings", folder=tmp_path))["bindings"]
    assert listed["book_ids"] == ["faq", "course"]
    said, _ = await footnote("books", "bindings", folder=tmp_path)
    assert said == "discord 123 (wherever it is) reads faq, course.\n"
    said, _ = await footnote("books", "unbind", "discord", "123", folder=tmp_path)
    assert said == "discord 123 (wherever it is) reads the default book.\n"
    _, complaint = await footnote(
        *("books", "bind", "slack", "C1", "cours"), folder=tmp_path, expect=WRONG
    )
    assert "There is no book 'cours'. Books: course, faq." in complaint
    removed = await printed("books", "remove", "faq", folder=tmp_path)
    assert (removed["book_id"], removed["files"]) == ("faq", 1)
    listed = await printed("books", folder=tmp_path)
    assert [book["book_id"] for book in listed["books"]] == ["course"]


async def test_sources_are_named_checked_listed_and_removed(tmp_path: Path) -> None:
    write_files(tmp_path, {"docs/a.md": f"# A\n\n{long_text('gear')}"})

    _, complaint = await footnote(
        *("sources", "add", "docs", "--pull", "--book", "course"), folder=tmp_path, expect=WRONG
    )
    assert "is not the top folder of a Git checkout" in complaint
    added = await printed(
        *("sources", "add", "docs", "https://example.com/sitemap.xml", "--every", "6h"),
        *("--book", "course"),
        folder=tmp_path,
    )
    assert [source["every_seconds"] for source in added["sources"]] == [21_600, 21_600]
    listed = await printed("sources", folder=tmp_path)
    assert {s["location"] for s in listed["sources"]} == {
        "https://example.com/sitemap.xml",
        str(tmp_path / "docs"),
    }
    said, _ = await footnote("sources", folder=tmp_path)
    assert f"course: {tmp_path / 'docs'}, every 6h; not read yet, next " in said
    gone = await printed("sources", "remove", "https://example.com/sitemap.xml", folder=tmp_path)
    assert gone["book_id"] == "course"
    (left,) = (await printed("sources", folder=tmp_path))["sources"]
    assert left["location"] == str(tmp_path / "docs")


async def test_a_running_bot_reads_its_sources_and_hears_signed_calls(tmp_path: Path) -> None:
    docs = write_files(tmp_path / "docs", {"a.md": f"# A\n\n{long_text('gear')}"})
    async with running_house(tmp_path, FOOTNOTE_HOOK_SECRET=SECRET) as house:
        await footnote("sources", "add", "docs", "--book", "course", folder=tmp_path)
        await until(lambda: has_files(house, 1))
        (source,) = (await printed("sources", folder=tmp_path))["sources"]
        assert source["last_success"] is not None
        said, _ = await footnote("sources", folder=tmp_path)
        assert re.match(rf"course: {docs}, on a signal; read [-0-9]{{10}} [0-9:]{{5}} UTC\n", said)
        write_files(docs, {"b.md": f"# B\n\n{long_text('valve')}"})
        for changed in ({"book": "other"}, {"secret": "another secret"}, {"age": 400}):
            refused = await call(house, **changed)
            assert refused.status_code == 401, changed
        sent = str(int(time.time()))
        assert (await call(house, sent=sent)).status_code == 202
        assert (await call(house, sent=sent)).status_code == 409
        await until(lambda: has_files(house, 2))
        assert (await house.web.get("/hooks/sources/course")).status_code == 405
        await footnote("books", "remove", "course", folder=tmp_path)
        assert await printed("sources", folder=tmp_path) == {"sources": []}
        assert (await house.web.get("/books")).json() == {"books": []}
        assert (await call(house)).status_code == 404


async def test_a_signed_call_is_not_taken_again_by_a_bot_that_began_anew(tmp_path: Path) -> None:
    write_files(tmp_path / "docs", {"a.md": f"# A\n\n{long_text('gear')}"})
    sent = str(int(time.time()))
    async with running_house(tmp_path, FOOTNOTE_HOOK_SECRET=SECRET) as house:
        await footnote("sources", "add", "docs", "--book", "course", folder=tmp_path)
        assert (await call(house, sent=sent)).status_code == 202
        house.process.send_signal(signal.SIGHUP)
        await house.until_said("web door open", times=2)
        assert (await call(house, sent=sent)).status_code == 409
    async with running_house(tmp_path, FOOTNOTE_HOOK_SECRET=SECRET) as house:
        assert (await call(house, sent=sent)).status_code == 409


async def test_without_a_secret_there_are_no_hooks(tmp_path: Path) -> None:
    async with running_house(tmp_path) as house:
        assert (await call(house)).status_code == 404


async def test_addresses_are_read_from_the_command_line(tmp_path: Path) -> None:
    async with website_peer() as site:
        site.pages["/gear"] = f"# Gear\n\n{long_text('gear')}"
        sitemap = site.sitemap("/gear")
        job = await printed(*("ingest", sitemap, "--book", "web"), folder=tmp_path, expect=FAILED)
        assert "127.0.0.1 is this machine" in job["error_message"]
        job = await printed(
            *("ingest", sitemap, "--book", "web"),
            folder=tmp_path,
            settings={"FOOTNOTE_FETCH_HOSTS": "wiki.example, 127.0.0.1"},
        )
        assert (job["status"], job["files_processed"], job["files_found"]) == ("completed", 1, 1)
        found = await printed("search", "gear described", "--book", "web", folder=tmp_path)
        assert found["results"][0]["page_url"] == f"{site.url}/gear"


async def test_paths_and_addresses_are_not_mixed(tmp_path: Path) -> None:
    _, complaint = await footnote(
        *("ingest", ".", "https://example.com/", "--book", "web"), folder=tmp_path, expect=WRONG
    )
    assert "either paths or addresses" in complaint


async def call(
    house: RunningHouse,
    *,
    book: str = "course",
    secret: str = SECRET,
    age: int = 0,
    sent: str | None = None,
) -> httpx.Response:
    """A call for the book `course`, signed for what is given."""
    body = b'{"ref": "refs/heads/main"}'
    sent = sent or str(int(time.time()) - age)
    signed = f"{sent}.{book}.".encode() + body
    digest = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    headers = {"X-Footnote-Timestamp": sent, "X-Footnote-Signature": f"sha256={digest}"}
    return await house.web.post("/hooks/sources/course", content=body, headers=headers)


async def has_files(house: RunningHouse, count: int) -> bool:
    books = (await house.web.get("/books")).json()["books"]
    return [book["files"] for book in books] == [count]


async def until(happened: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await happened():  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.05)


async def test_books_and_jobs_are_told_in_whole_words(tmp_path: Path) -> None:
    folder = tmp_path / ("a rather long name of a folder " * 3).strip()
    write_files(folder, {"a.md": f"# A\n\n{long_text('gear')}", "b.pdf": "none"})
    title = "A course with a title that is longer than a narrow screen would like it to be, far"
    said, _ = await footnote(
        *("ingest", str(folder), "--book", "course", "--title", title), folder=tmp_path
    )
    assert "1 file read, 0 skipped, 1 failed" in said
    assert "\n  b.pdf: it is damaged, or not a PDF\n" in said
    books, _ = await footnote("books", folder=tmp_path)
    first, second = books.splitlines()
    assert first == f"course  {title}"
    assert second.startswith("  1 file, ")
    assert second.endswith(" UTC")
    jobs, _ = await footnote("jobs", folder=tmp_path)
    assert said.strip() in jobs
    assert "UTC  course: completed." in jobs
