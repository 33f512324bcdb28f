"""Answers that an admin writes on the dashboard: through the real program, to its last day."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from rag_core.staff.writing import NO_ANSWER
from tests.flow.running_house import RunningHouse, footnote, running_house
from tests.shelf_builders import write_files

PAGE = "# The reading room\n\nIn summer the reading room opens at 9:30 and closes at 20:00.\n"
ASKED = "Where can I leave my bicycle at night?"
SAID = "Bicycles stay overnight in the blue shed behind the chapel."
OURS, THEIRS, READER = "our-admin-key", "their-admin-key", "reader-key"
KEYS = f"{OURS}:admin:library,{THEIRS}:admin:other,{READER}:ask:library"
DRAFT = {"book_id": "library", "question": ASKED, "text": SAID, "author": "Ada"}
PATH = "/staff-answers"


@pytest.fixture
async def library(tmp_path: Path) -> Path:
    write_files(tmp_path / "pages", {"room.md": PAGE})
    for book in ("library", "other"):
        await footnote("ingest", "pages", "--book", book, folder=tmp_path)
    return tmp_path


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def asked(house: RunningHouse) -> dict[str, Any]:
    answer = await house.web.post("/chat/run", json={"message": ASKED}, headers=bearer(READER))
    answer.raise_for_status()
    document: dict[str, Any] = answer.json()
    return document


def cites(answer: dict[str, Any]) -> list[str]:
    return [citation["page_title"] for citation in answer["citations"]]


def moment(**ahead: float) -> str:
    return (datetime.now(UTC) + timedelta(**ahead)).isoformat()


async def test_a_written_answer_is_cited_until_its_last_moment_and_not_after_it(
    library: Path,
) -> None:
    async with running_house(library, FOOTNOTE_API_KEYS=KEYS) as house:
        ours = {"headers": bearer(OURS)}
        assert (await asked(house))["outcome"] == "no_results"
        written = await house.web.post(PATH, json=DRAFT, **ours)
        assert written.status_code == 201
        at = f"{PATH}/{written.json()['id']}"
        found = await asked(house)
        assert "blue shed" in found["answer"]
        assert cites(found)[0].startswith("Staff answer by Ada")
        moved = await house.web.patch(at, json={"text": SAID.replace("blue", "green")}, **ours)
        assert moved.status_code == 200
        assert "green shed" in (await asked(house))["answer"]
        soon = moment(seconds=0.5)
        await house.web.patch(at, json={"expires_at": soon}, **ours)
        await asyncio.sleep((datetime.fromisoformat(soon) - datetime.now(UTC)).total_seconds())
        late = await asked(house)
        assert (late["outcome"], cites(late)) == ("no_results", [])
        assert "not found any more" in (await house.web.get("/admin/staff", **ours)).text
        await house.web.patch(at, json={"expires_at": moment(days=1)}, **ours)
        assert "green shed" in (await asked(house))["answer"]
        assert (await house.web.delete(at, **ours)).status_code == 200
        assert (await asked(house))["outcome"] == "no_results"
        again = await house.web.patch(at, json={"expires_at": moment(days=1)}, **ours)
        assert again.status_code == 422


async def test_another_tenants_admin_neither_sees_nor_changes_it(library: Path) -> None:
    async with running_house(library, FOOTNOTE_API_KEYS=KEYS) as house:
        theirs = {"headers": bearer(THEIRS)}
        refused = await house.web.post(PATH, json=DRAFT, **theirs)
        reader = await house.web.post(PATH, json=DRAFT, headers=bearer(READER))
        assert (refused.status_code, reader.status_code) == (404, 403)
        written = await house.web.post(PATH, json=DRAFT, headers=bearer(OURS))
        at = f"{PATH}/{written.json()['id']}"
        change = {"text": "Leave it wherever you like."}
        assert (await house.web.patch(at, json=change, **theirs)).status_code == 404
        assert (await house.web.delete(at, **theirs)).status_code == 404
        assert (await house.web.get(PATH, **theirs)).json() == {"staff_answers": []}
        assert SAID not in (await house.web.get("/admin/staff", **theirs)).text
        assert "blue shed" in (await asked(house))["answer"]
        await wrong_drafts(house.web)


async def wrong_drafts(web: httpx.AsyncClient) -> None:
    for change, field in (
        ({"text": "Why do you ask?"}, "text"),
        ({"text": " "}, "text"),
        ({"text": "word " * 900}, "text"),
        ({"author": ""}, "author"),
        ({"expires_at": moment(days=10_000)}, "expires_at"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"book_id": "Not A Book"}, "book_id"),
        ({"colour": "red"}, "colour"),
    ):
        answer = await web.post(PATH, json={**DRAFT, **change}, headers=bearer(OURS))
        assert answer.status_code == 422, change
        assert answer.json()["errors"][0]["field"] == field
    asking = await web.post(PATH, json={**DRAFT, "text": "And you?"}, headers=bearer(OURS))
    assert NO_ANSWER in asking.json()["detail"]
    for name in (str(uuid4()), "nothing"):
        gone = await web.patch(f"{PATH}/{name}", json={}, headers=bearer(OURS))
        assert gone.status_code == 404
