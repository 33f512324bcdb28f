"""Gaps and numbers over HTTP: for admins, and in the words that the command line uses."""

from __future__ import annotations

from uuid import uuid4

import pytest

from adapters.web.documents.insight_schemas import GapsModel, StatsModel
from rag_core.insight.gap import Gap, GapState
from tests.fakes.web_house import House, MemoryGaps
from tests.fakes.web_values import START
from tests.fakes.web_visit import visiting, with_keys


def a_gap(example: str = "May I bring my dog?", count: int = 3) -> Gap:
    return Gap(
        gap_id=uuid4(),
        state=GapState.OPEN,
        example=example,
        examples=("dog rules",),
        count=count,
        platforms=("web",),
        first_asked_at=START,
        last_asked_at=START,
    )


async def test_gaps_are_looked_for_and_listed_the_most_asked_first() -> None:
    house = House(gaps=MemoryGaps(a_gap("Parking?", 2)))
    house.gaps.unseen.append(a_gap())
    async with visiting(house) as client:
        listed = await client.get("/gaps")
        limited = (await client.get("/gaps", params={"limit": 1})).json()
    told = GapsModel.model_validate_json(listed.text)
    assert [gap.example for gap in told.gaps] == ["May I bring my dog?", "Parking?"]
    assert len(limited["gaps"]) == 1


async def test_a_gap_changes_its_state() -> None:
    gap = a_gap()
    house = House(gaps=MemoryGaps(gap))
    async with visiting(house) as client:
        changed = await client.patch(f"/gaps/{gap.gap_id}", json={"state": "planned"})
        planned = (await client.get("/gaps", params={"state": "planned"})).json()
        still_open = (await client.get("/gaps", params={"state": "open"})).json()
        unknown = await client.patch(f"/gaps/{uuid4()}", json={"state": "planned"})
        odd = await client.patch("/gaps/none", json={"state": "planned"})
        wrong = await client.patch(f"/gaps/{gap.gap_id}", json={"state": "gone"})
    assert changed.status_code == 204
    assert [len(planned["gaps"]), len(still_open["gaps"])] == [1, 0]
    assert [unknown.status_code, odd.status_code] == [404, 404]
    assert wrong.status_code == 422
    assert "open, planned or answered" in wrong.json()["errors"][0]["allowed"]


@pytest.mark.parametrize(("kind", "name"), [("markdown", "gaps.md"), ("csv", "gaps.csv")])
async def test_gaps_are_taken_along_as_a_file(kind: str, name: str) -> None:
    async with visiting(House(gaps=MemoryGaps(a_gap()))) as client:
        answer = await client.get(f"/gaps/{kind}")
    assert "May I bring my dog?" in answer.text
    assert answer.headers["content-type"].startswith(f"text/{kind}")
    assert name in answer.headers["content-disposition"]


async def test_the_numbers_are_what_their_description_says() -> None:
    async with visiting(House()) as client:
        answer = await client.get("/stats", params={"days": 3})
    told = StatsModel.model_validate_json(answer.text)
    assert len(told.days) == 3
    assert told.seconds_to_answer.p95 == 4.0
    assert told.helpful_rate == 0.75


@pytest.mark.parametrize(
    ("days", "allowed"),
    [
        ("0", "at least 1"),
        ("400", "at most 366"),
        ("many", "a whole number"),
        ("1.5", "a whole number"),
        ("9" * 5_000, "a whole number of fewer digits"),
    ],
)
async def test_a_stretch_of_days_is_refused_with_what_is_allowed(days: str, allowed: str) -> None:
    async with visiting(House()) as client:
        answer = await client.get("/stats", params={"days": days})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert (error["field"], error["allowed"]) == ("days", allowed)


@pytest.mark.parametrize("path", ["/gaps", "/gaps/markdown", "/gaps/csv", "/stats"])
@pytest.mark.parametrize("key", ["ask-key-1", "read-key-1"])
async def test_only_an_admin_may_know(path: str, key: str) -> None:
    async with visiting(House(), with_keys(), key=key) as client:
        assert (await client.get(path)).status_code == 403
    async with visiting(House(), with_keys(), key="admin-key-1") as client:
        assert (await client.get(path)).status_code == 200
