"""The dashboard's pages: for admins only, and whatever strangers wrote stays words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from adapters.web.config import WebConfig
from adapters.web.pages.admin_books import books_html, channels_html
from adapters.web.pages.admin_numbers import numbers_html
from adapters.web.pages.admin_story import answers_html, story_html
from rag_core.agent.answer import ErrorKind, Outcome
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.conversation.key import Platform, TenantId
from rag_core.insight.stats import DayTally, Stats, Tally, Waiting
from rag_core.insight.story import Story
from tests.fakes.answers import an_answer
from tests.fakes.web_house import House, MemoryBooks, MemoryGaps, OneDefault
from tests.fakes.web_values import START
from tests.fakes.web_visit import a_config, visiting, with_keys
from tests.unit.test_web_insight import a_gap

PAGES = ["/admin", "/admin/gaps", "/admin/books", "/admin/channels", "/admin/answers"]
HOSTILE = '<img src=x onerror="alert(1)">'
SLACK = {"platform": "slack", "tenant": "T1", "channel_id": "C1"}


@pytest.fixture
def config(tmp_path: Path) -> WebConfig:
    return a_config(uploads=tmp_path / "uploads")


@pytest.mark.parametrize("path", PAGES)
async def test_only_an_admin_sees_the_dashboard(path: str) -> None:
    async with visiting(House(), with_keys(), key="read-key-1") as client:
        refused = await client.get(path)
    async with visiting(House(), with_keys()) as client:
        unknown = await client.get(path, headers={"Accept": "text/html"})
    async with visiting(House(), with_keys(), key="admin-key-1") as client:
        shown = await client.get(path)
    assert refused.status_code == 403
    assert (unknown.status_code, unknown.headers["location"]) == (303, "/sign-in")
    assert shown.status_code == 200
    assert 'aria-current="page"' in shown.text


async def test_the_numbers_stand_in_the_page_and_not_in_the_chart_alone() -> None:
    async with visiting(House()) as client:
        page = (await client.get("/admin", params={"days": "7"})).text
        odd = [await client.get("/admin", params={"days": d}) for d in ("x", "0", "9999", "²")]
    assert page.count("<tr>") == 2 + 7 + 1
    assert "<strong>50%</strong>" in page
    assert "<strong>1.5 s</strong>" in page
    assert "C1" in page
    assert [answer.status_code for answer in odd] == [200] * 4


async def test_a_gap_is_shown_with_its_questions_as_words() -> None:
    house = House(gaps=MemoryGaps(a_gap(HOSTILE)))
    async with visiting(house) as client:
        page = (await client.get("/admin/gaps", params={"state": "open"})).text
        none = (await client.get("/admin/gaps", params={"state": "planned"})).text
    assert "<img" not in page
    assert "&lt;img" in page
    assert "dog rules" in page
    assert "/gaps/csv?state=open" in page
    assert "Nothing was asked in vain." in none


async def test_an_answer_tells_its_story_without_its_asker() -> None:
    house = House()
    async with visiting(house) as client:
        body = {"message": f"How often may a key ask? {HOSTILE}"}
        answer = (await client.post("/chat/run", json=body)).json()
        listed = (await client.get("/admin/answers")).text
        story = (await client.get(f"/admin/answers/{answer['answer_id']}")).text
        unknown = await client.get("/admin/answers/none")
    assert f"/admin/answers/{answer['answer_id']}" in listed
    for told in ("limits &lt;b&gt;of&lt;/b&gt; a key", "0.61", "Too &lt;short&gt;", "0.90 (high)"):
        assert told in story
    assert "<img" not in story + listed
    assert answer["session_id"] not in story
    assert unknown.status_code == 404


async def test_a_channel_is_bound_and_unbound() -> None:
    house = House()
    place = Place(platform=Platform.SLACK, tenant=TenantId("T1"), channel_id="C1")
    async with visiting(house) as client:
        bound = await client.put(
            "/policies",
            json={
                **SLACK,
                "book_ids": ["course", "staff"],
                "hint_only": True,
                "released_at": "2026-03-01T00:00:00Z",
                "proficiency_levels": ["A1"],
            },
        )
        page = (await client.get("/admin/channels")).text
        listed = (await client.get("/policies")).json()["policies"]
        said = house.policies.said[place]
        gone = await client.put("/policies", json=SLACK)
    assert [bound.status_code, gone.status_code] == [204, 204]
    assert said.books == ("course", "staff")
    assert said.released_at == datetime(2026, 3, 1, tzinfo=UTC)
    assert "hints only" in page
    assert listed[0]["book_ids"] == ["course", "staff"]
    assert said.operator_books == ("course", "staff")
    assert house.policies.said == {}


async def test_a_choice_of_an_admin_in_the_chat_is_not_confirmed_by_a_tone() -> None:
    house = House()
    place = Place(platform=Platform.SLACK, tenant=TenantId("T1"), channel_id="C1")
    await house.policies.set(place, ChannelPolicy(book_id="course"))
    async with visiting(house) as client:
        page = (await client.get("/admin/channels")).text
        await client.put("/policies", json={**SLACK, "book_ids": ["course"], "tone": "calm"})
        toned = house.policies.said[place]
        await client.put("/policies", json={**SLACK, "book_ids": ["course", "staff"]})
        bound = house.policies.said[place]
    assert "course (chosen there)" in page
    assert (toned.tone, toned.operator_books) == ("calm", ())
    assert bound.operator_books == ("course", "staff")


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"book_ids": ["nowhere"]}, 404, "book_ids"),
        ({"platform": "web"}, 422, "platform"),
        ({"tenant": ""}, 422, "tenant"),
        ({"released_at": "2026-03-01T00:00:00"}, 422, "released_at"),
        ({"hardware_tier": 9}, 422, "hardware_tier"),
        ({"colour": "red"}, 422, "colour"),
    ],
)
async def test_a_wrong_policy_changes_nothing(
    change: dict[str, object], status: int, field: str
) -> None:
    house = House()
    async with visiting(house) as client:
        answer = await client.put("/policies", json={**SLACK, **change})
    assert answer.status_code == status
    assert answer.json()["errors"][0]["field"] == field
    assert house.policies.said == {}


async def test_places_are_shown_in_words() -> None:
    house = House()
    await house.policies.set(
        Place(platform=Platform.DISCORD, tenant=TenantId("G1")),
        ChannelPolicy(auto_answer=False, tone="short"),
    )
    async with visiting(house) as client:
        page = (await client.get("/admin/channels")).text
    assert "everywhere" in page
    assert "answers mentions only; tone: short" in page


async def test_a_dropped_file_is_kept_and_read(config: WebConfig) -> None:
    house = House()
    async with visiting(house, config) as client:
        page = (await client.get("/admin/books")).text
        kept = await client.put("/uploads/course/week 1/intro.md", content=b"# Hello\n" * 50_000)
        empty = await client.put("/uploads/course/week 1/notes", content=b"")
        again = await client.put("/uploads/course/week 1/intro.md", content=b"# New\n")
        job = await client.post("/uploads/course", json={"title": "The course"})
        shown = (await client.get("/admin/books/jobs")).text
    assert "drop-form" in page
    told = [kept.status_code, empty.status_code, again.status_code, job.status_code]
    assert told == [204, 422, 204, 202]
    assert config.uploads is not None
    files = [file for file in config.uploads.rglob("*") if file.is_file()]
    assert [file.relative_to(config.uploads).as_posix() for file in files] == [
        "course/week 1/intro.md"
    ]
    assert files[0].read_text() == "# New\n"
    (started,) = house.jobs.jobs.values()
    assert started.sources == (str(config.uploads / "course"),)
    assert 'data-act="cancel"' in shown


@pytest.mark.parametrize(
    "path",
    [
        "course/%2E%2E/%2E%2E/evil.md",
        "course/..%2f..%2fevil.md",
        "course/.hidden.md",
        "course/evil.exe",
        "course/a%00b.md",
        "course/a\\b.md".replace("\\", "%5C"),
        "course/" + "d/" * 9 + "deep.md",
        "course/" + "x" * 200 + ".md",
        "course/",
    ],
)
async def test_a_file_stays_in_its_books_folder(path: str, config: WebConfig) -> None:
    async with visiting(House(), config) as client:
        answer = await client.put(f"/uploads/{path}", content=b"# Hello")
    assert answer.status_code in {404, 405, 422}
    assert config.uploads is not None
    assert not config.uploads.exists() or not [*config.uploads.rglob("*.*")]


async def test_a_file_that_is_too_large_leaves_nothing_behind(config: WebConfig) -> None:
    async def sending() -> AsyncIterator[bytes]:
        for _ in range(11):
            yield b"x" * 1024 * 1024

    async with visiting(House(), config) as client:
        answer = await client.put("/uploads/course/large.md", content=sending())
    assert answer.status_code == 413
    assert "at most 10 MB" in answer.json()["detail"]
    assert config.uploads is not None
    assert not [file for file in config.uploads.rglob("*") if file.is_file()]


async def test_files_are_taken_from_admins_for_their_own_books(tmp_path: Path) -> None:
    config = with_keys(uploads=tmp_path)

    async def put(key: str, book: str) -> httpx.Response:
        async with visiting(House(), config, key=key) as client:
            return await client.put(f"/uploads/{book}/a.md", content=b"# A")

    assert (await put("read-key-1", "course")).status_code == 403
    assert (await put("admin-key-1", "elsewhere")).status_code == 404
    assert (await put("admin-key-1", "NO!")).status_code == 422
    assert (await put("admin-key-1", "course")).status_code == 204


async def test_without_a_folder_nothing_is_taken() -> None:
    async with visiting(House()) as client:
        page = (await client.get("/admin/books")).text
        answer = await client.put("/uploads/course/a.md", content=b"# A")
        read = await client.post("/uploads/course", json={})
    assert "drop-form" not in page
    assert [answer.status_code, read.status_code] == [404, 404]


def test_where_nothing_is_there_a_sentence_says_so() -> None:
    quiet = Stats(
        days=(DayTally(day=START.date(), tally=Tally()),),
        total=Tally(),
        waiting=Waiting(),
        platforms={},
        channels=(),
    )
    page = numbers_html(quiet)
    assert "Nobody has rated an answer in this time." in page
    assert 'id="ratings"' not in page
    assert "Nothing was asked in this time." in page
    assert "Nothing was asked yet." in answers_html([])
    assert "No place says anything for itself" in channels_html({})
    assert "No book has been read yet." in books_html([], [], drops=False)


def test_the_story_of_a_failed_answer_tells_what_failed() -> None:
    failed = an_answer(
        outcome=Outcome.ERROR, citations=(), error="Later.", error_kind=ErrorKind.RETRIEVAL
    )
    story = Story(
        response=failed,
        platform="web",
        asked_at=START,
        stored_at=START,
        delivered=True,
        attempts=1,
        searches=(),
        ratings=(),
    )
    assert "failed (retrieval)" in str(story_html(story))


async def test_an_empty_house_leads_those_who_may_drop_files_to_where_they_can(
    config: WebConfig,
) -> None:
    house = House(books=MemoryBooks(), library=OneDefault(None))
    async with visiting(house, config) as client:
        with_drops = (await client.get("/")).text
    async with visiting(house) as client:
        without = (await client.get("/")).text
    assert '<a href="/admin/books">' in with_drops
    assert '<a href="/admin/books">' not in without
