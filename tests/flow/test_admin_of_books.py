"""Admin keys with books see and change what concerns these books alone, at every address."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from adapters.web.config import Scope
from adapters.web.guarding.rules import scope_of
from tests.fakes.web_visit import a_config, every_route
from tests.flow.running_house import RunningHouse, footnote, running_house

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOOKS = ("course", "staff")
MARKS = {"course": "QZXVCOURSE", "staff": "QZXVSTAFF"}
KEYS = {
    **{f"{book}-admin": f"{book}-admin-key-0123456789:admin:{book}" for book in BOOKS},
    **{f"{book}-asker": f"{book}-asker-key-0123456789:ask:{book}" for book in BOOKS},
    "both-asker": "both-asker-key-0123456789:ask:course|staff",
    "house-admin": "house-admin-key-0123456789:admin",
}
BOTH = "QZXVBOTH"
"""Stands in what concerns both books, and so neither of their admins alone."""
IN_VAIN = {
    "course": (
        "May I bring my dog along to the office?",
        "Are dogs allowed in the office?",
        "Is my dog welcome at the office?",
    ),
    "staff": (
        "What is the wifi password of the meeting room?",
        "Which password opens the wifi in the meeting room?",
        "How do I get the wifi password for the meeting room?",
    ),
}
"""So different that each book has a gap of its own."""
IN_BOTH = f"Where does {BOTH} store the fire extinguisher?"
PAGE = "# Rules\n\n## Books\n\nA book of the {book} may be kept for four weeks, says {mark}.\n"


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KEYS[name].partition(':')[0]}"}


@dataclass(frozen=True)
class Ids:
    """What there is of one book."""

    answer: str
    gap: str
    job: str
    staff: str


@dataclass(frozen=True)
class Library:
    """A running house with two books that were lived in alike."""

    house: RunningHouse
    ids: dict[str, Ids]

    async def send(self, key: str, method: str, path: str, **more: Any) -> httpx.Response:
        return await self.house.web.request(method, path, headers=bearer(key), **more)

    async def state(self) -> dict[str, str]:
        """All that an admin may change, as the admin of the whole house sees it."""
        paths = ("/gaps", "/policies", "/staff-answers", "/jobs", "/books")
        return {path: (await self.send("house-admin", "GET", path)).text for path in paths}


def policy(channel: str, *books: str) -> dict[str, Any]:
    return {"platform": "slack", "tenant": "T1", "channel_id": channel, "book_ids": list(books)}


def draft(book: str, mark: str) -> dict[str, str]:
    text = f"That is a dog's name in the {book}, and {mark} stays outside of the house."
    return {"book_id": book, "question": f"Who is {mark}?", "text": text, "author": "Ada"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def library(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Library]:
    folder: Path = tmp_path_factory.mktemp("two-books")
    for book in BOOKS:
        (folder / book).mkdir()
        (folder / book / "rules.md").write_text(PAGE.format(book=book, mark=MARKS[book]))
        await footnote("ingest", book, "--book", book, "--title", MARKS[book], folder=folder)
    keys = ",".join(KEYS.values())
    async with running_house(
        folder, FOOTNOTE_API_KEYS=keys, FOOTNOTE_JOB_FOLDERS=str(folder)
    ) as house:
        made = Library(house, {})
        for book in BOOKS:
            made.ids[book] = await lived_in(made, book)
        await made.send("both-asker", "POST", "/chat/run", json={"message": IN_BOTH})
        await made.send("house-admin", "PUT", "/policies", json=policy(BOTH, *BOOKS))
        # Groups that nobody has judged may still be put together anew: these are the last ones.
        gaps = (await made.send("house-admin", "GET", "/gaps")).json()["gaps"]
        for book in BOOKS:
            (gap,) = [each["gap_id"] for each in gaps if MARKS[book] in each["example"]]
            made.ids[book] = replace(made.ids[book], gap=gap)
        yield made


async def lived_in(library: Library, book: str) -> Ids:
    mark, admin = MARKS[book], f"{book}-admin"

    async def ask(message: str) -> dict[str, Any]:
        answer = await library.send(f"{book}-asker", "POST", "/chat/run", json={"message": message})
        document: dict[str, Any] = answer.raise_for_status().json()
        return document

    answered = await ask(f"How long may a book be kept, says {mark}?")
    rating = {"answer_id": answered["answer_id"], "rating": "helpful"}
    rated = await library.send(f"{book}-asker", "POST", "/feedback", json=rating)
    assert rated.status_code == 204
    for question in IN_VAIN[book]:
        # The page has the mark too, so it may come near; either way the question opens a gap.
        assert (await ask(f"{question} {mark}"))["outcome"] in {"no_results", "low_confidence"}
    put = await library.send(admin, "PUT", f"/uploads/{book}/{mark}.md", content=b"# Hello\n\nYou.")
    assert put.status_code == 204
    job = await library.send(admin, "POST", f"/uploads/{book}", json={"title": mark})
    assert job.status_code == 202
    kept = await library.send(admin, "POST", "/staff-answers", json=draft(book, mark))
    assert kept.status_code == 201, kept.text
    bound = await library.send("house-admin", "PUT", "/policies", json=policy(f"C-{mark}", book))
    assert bound.status_code == 204
    return Ids(
        answer=answered["answer_id"],
        gap="",
        job=job.json()["job_id"],
        staff=kept.json()["id"],
    )


READS = {
    # Address → whether the admin's own book is named there.
    "/admin": False,
    "/admin/gaps": True,
    "/admin/books": True,
    "/admin/books/jobs": True,
    "/admin/channels": True,
    "/admin/answers": True,
    "/admin/answers/{answer_id}": True,
    "/admin/staff": True,
    "/gaps": True,
    "/gaps/markdown": True,
    "/gaps/csv": True,
    "/stats": False,
    "/policies": True,
    "/jobs": True,
    "/jobs/{job_id}": True,
    "/staff-answers": True,
}
CHANGES = {
    ("POST", "/jobs"),
    ("DELETE", "/jobs/{job_id}"),
    ("PATCH", "/gaps/{gap_id:uuid}"),
    ("PUT", "/policies"),
    ("PUT", "/uploads/{book_id}/{path:path}"),
    ("POST", "/uploads/{book_id}"),
    ("POST", "/staff-answers"),
    ("PATCH", "/staff-answers/{answer_id}"),
    ("DELETE", "/staff-answers/{answer_id}"),
    ("PUT", "/staff-answers/{answer_id}/sharing"),
}
WHOLE_HOUSE = {"/metrics"}


def of_other_book(other: str, ids: Ids) -> list[tuple[str, str, dict[str, Any]]]:
    """Every change of another book, each in all the ways that a body or an address has."""
    mark = MARKS[other]
    own = BOOKS[1 - BOOKS.index(other)]
    return [
        ("POST", "/jobs", {"json": {"book_id": other, "urls": ["https://docs.example/"]}}),
        ("DELETE", f"/jobs/{ids.job}", {}),
        ("PATCH", f"/gaps/{ids.gap}", {"json": {"state": "answered"}}),
        ("PUT", "/policies", {"json": policy("C-new", other)}),
        ("PUT", "/policies", {"json": policy("C-new", own, other)}),
        ("PUT", "/policies", {"json": policy(f"C-{mark}", own)}),
        ("PUT", "/policies", {"json": policy(f"C-{mark}")}),
        ("PUT", "/policies", {"json": {**policy(f"C-{mark}"), "tone": "rude"}}),
        ("PUT", "/policies", {"json": policy(BOTH, own)}),
        ("PUT", "/policies", {"json": policy(BOTH)}),
        ("PUT", "/policies", {"json": policy("", own)}),
        ("PUT", "/policies", {"json": {**policy(""), "hint_only": True}}),
        ("PUT", f"/uploads/{other}/evil.md", {"content": b"# Evil"}),
        ("POST", f"/uploads/{other}", {"json": {}}),
        ("POST", "/staff-answers", {"json": draft(other, mark)}),
        ("PATCH", f"/staff-answers/{ids.staff}", {"json": {"text": "Another text stands here."}}),
        ("DELETE", f"/staff-answers/{ids.staff}", {}),
        ("PUT", f"/staff-answers/{ids.staff}/sharing", {"json": {"places": ["everywhere"]}}),
    ]


async def test_every_address_of_admins_is_tried_here() -> None:
    tried = {("GET", path) for path in (*READS, *WHOLE_HOUSE)} | CHANGES
    there = {
        (method, path)
        for path, methods in every_route(a_config(uploads=Path("nowhere")))
        for method in methods - {"HEAD"}
        if scope_of(path) is Scope.ADMIN
    }
    assert there == tried
    sent = {method for method, _, _ in of_other_book("staff", Ids("a", "g", "j", "s"))}
    assert sent == {method for method, _ in CHANGES}


@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize("book", BOOKS)
async def test_an_admin_of_one_book_reads_of_it_alone(
    library: Library, book: str, path: str
) -> None:
    (other,) = set(BOOKS) - {book}
    own, foreign = library.ids[book], library.ids[other]
    shown = await library.send(f"{book}-admin", "GET", filled(path, own))
    assert shown.status_code == 200
    assert (MARKS[book] in shown.text) is READS[path]
    assert MARKS[other] not in shown.text
    assert BOTH not in shown.text
    if "{" in path:
        hidden = await library.send(f"{book}-admin", "GET", filled(path, foreign))
        assert hidden.status_code == 404
    everything = await library.send("house-admin", "GET", filled(path, own))
    assert everything.status_code == 200
    if READS[path] and "{" not in path:
        assert all(mark in everything.text for mark in MARKS.values())


def filled(path: str, ids: Ids) -> str:
    return path.replace("{answer_id}", ids.answer).replace("{job_id}", ids.job)


@pytest.mark.parametrize("book", BOOKS)
async def test_the_numbers_of_one_book_count_its_questions_alone(
    library: Library, book: str
) -> None:
    own = (await library.send(f"{book}-admin", "GET", "/stats")).json()
    house = (await library.send("house-admin", "GET", "/stats")).json()
    assert (own["questions"], house["questions"]) == (4, 9)
    assert own["helpful"] == 1
    assert house["helpful"] == 2
    assert own["seconds_to_answer"]["p50"] is not None


@pytest.mark.parametrize("book", BOOKS)
async def test_an_admin_of_one_book_changes_nothing_of_another(library: Library, book: str) -> None:
    await jobs_over(library)
    (other,) = set(BOOKS) - {book}
    before = await library.state()
    for method, path, more in of_other_book(other, library.ids[other]):
        answer = await library.send(f"{book}-admin", method, path, **more)
        assert answer.status_code in {403, 404}, f"{method} {path} {more}: {answer.text}"
        assert MARKS[other] not in answer.text
    assert await library.state() == before


async def jobs_over(library: Library) -> None:
    async with asyncio.timeout(60):
        while any(  # noqa: ASYNC110 - it is another process
            job["status"] in {"queued", "running"}
            for job in (await library.send("house-admin", "GET", "/jobs")).json()["jobs"]
        ):
            await asyncio.sleep(0.05)


async def test_an_admin_of_one_book_changes_its_own(library: Library) -> None:
    ids, admin = library.ids["course"], "course-admin"
    state = await library.send(admin, "PATCH", f"/gaps/{ids.gap}", json={"state": "planned"})
    bound = await library.send(admin, "PUT", "/policies", json=policy("C-mine", "course"))
    listed = (await library.send(admin, "GET", "/policies")).json()["policies"]
    unbound = await library.send(admin, "PUT", "/policies", json=policy("C-mine"))
    text = {"text": "Another text stands here, and it is long enough."}
    worded = await library.send(admin, "PATCH", f"/staff-answers/{ids.staff}", json=text)
    assert [each.status_code for each in (state, bound, unbound, worded)] == [204, 204, 204, 200]
    assert "C-mine" in {each["channel_id"] for each in listed}


@pytest.mark.parametrize("path", sorted(WHOLE_HOUSE))
async def test_the_whole_house_takes_an_admin_key_without_books(
    library: Library, path: str
) -> None:
    refused = await library.send("course-admin", "GET", path)
    assert refused.status_code == 403
    assert (await library.send("house-admin", "GET", path)).status_code == 200


async def test_an_admin_key_without_books_may_name_every_book(library: Library) -> None:
    for book in BOOKS:
        found = await library.send(
            "house-admin", "POST", "/search", json={"text": "kept", "book_ids": [book]}
        )
        assert found.status_code == 200
    for method, path, more in (
        ("PUT", "/uploads/staff/more.md", {"content": b"# More\n\nWords."}),
        ("PUT", "/policies", {"json": policy("", "staff")}),
        ("PUT", "/policies", {"json": policy("")}),
    ):
        assert (await library.send("house-admin", method, path, **more)).status_code == 204
