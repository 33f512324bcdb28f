"""Who may decide about a reply of the staff, and what counts as one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from adapters.staff_answers import (
    KEEP,
    LEAVE,
    LEFT,
    NOT_YOURS,
    WITHDRAW,
    WITHDRAWN,
    Decisions,
    may_decide,
)
from rag_core.books.audience import Audience
from rag_core.conversation.key import Platform, TenantId
from rag_core.desk.incoming import MessageIdentity
from rag_core.errors import InvalidQuestion
from rag_core.reading.sections import section_of
from rag_core.retrieval.results import SearchResult
from rag_core.staff.answer import Keeping, StaffAnswer, may_answer
from rag_core.staff.shelf import among, as_result
from rag_core.staff.staffing import NOT_THERE, Kept

NOW = datetime.now(UTC)
HERE = (Platform.SLACK, TenantId("T1"))
AUDIENCE = Audience(platform=HERE[0], tenant=HERE[1])
ANSWER = StaffAnswer(
    id=uuid4(),
    identity=MessageIdentity(platform="slack", tenant="T1", channel_id="C1", message_id="1.1"),
    question_id=None, question="Where?", text="In the blue shed.", author_id="cleo",
    author="Cleo", link="", book_id="course", modules=(), released_at=NOW, said_at=NOW,
    changed_at=NOW, expires_at=NOW + timedelta(days=9),
)  # fmt: skip


class Memory:
    """One reply."""

    def __init__(self) -> None:
        self.answer = ANSWER

    async def get(self, answer_id: UUID) -> StaffAnswer | None:
        return self.answer if answer_id == self.answer.id else None

    async def keep(self, answer_id: UUID, *, by: str) -> Kept:
        if answer_id != self.answer.id:
            raise InvalidQuestion("staff_answer", NOT_THERE)
        changed = self.answer.keeping is not Keeping.KEPT
        self.answer = replace(self.answer, keeping=Keeping.KEPT, kept_by=by)
        return Kept(answer=self.answer, changed=changed)

    async def withdraw(self, answer_id: UUID) -> Kept:
        changed = self.answer.keeping is not Keeping.WITHDRAWN
        self.answer = replace(self.answer, keeping=Keeping.WITHDRAWN)
        return Kept(answer=self.answer, changed=changed)


async def decide(act: str, *, by: str = "cleo", **changes: Any) -> tuple[str, Keeping]:
    memory: Any = Memory()
    given: dict[str, Any] = {"at": HERE, "is_admin": False} | changes
    told = await Decisions(memory).decide(act, ANSWER.id, by=by, **given)
    return told, memory.answer.keeping


async def test_its_author_and_admins_of_its_place_decide_and_nobody_else() -> None:
    assert (await decide(KEEP))[1] is Keeping.KEPT
    assert (await decide(KEEP, by="dean", is_admin=True))[1] is Keeping.KEPT
    assert await decide(KEEP, by="ann") == (NOT_YOURS, Keeping.OFFERED)
    elsewhere = (Platform.SLACK, TenantId("T2"))
    assert (await decide(KEEP, by="dean", at=elsewhere, is_admin=True))[0] == NOT_YOURS
    for other in (elsewhere, (Platform.DISCORD, TenantId("T1"))):
        assert (await decide(WITHDRAW, by="cleo", at=other))[0] == NOT_YOURS


def test_a_user_id_names_one_person_on_discord_and_in_one_workspace_of_slack() -> None:
    guild = replace(ANSWER, identity=replace(ANSWER.identity, platform="discord"))
    direct = (Platform.DISCORD, TenantId("@me"))
    assert may_decide(guild, by="cleo", at=direct, is_admin=False)
    assert not may_decide(guild, by="ann", at=direct, is_admin=True)
    elsewhere = (Platform.SLACK, TenantId("T2"))
    assert not may_decide(ANSWER, by="cleo", at=elsewhere, is_admin=True)


async def test_what_came_of_it_is_said_in_one_sentence() -> None:
    assert (await decide(LEAVE))[0] == LEFT
    assert (await decide(WITHDRAW))[0] == WITHDRAWN
    memory: Any = Memory()
    told = await Decisions(memory).decide(KEEP, uuid4(), by="cleo", at=HERE, is_admin=False)
    assert told == NOT_THERE


@pytest.mark.parametrize(
    ("text", "can"),
    [("It is in room 3.", True), ("Thanks!", False), ("Which one do you mean?", False)],
)
def test_what_can_be_an_answer(text: str, can: bool) -> None:
    assert may_answer(text) is can


def passage(similarity: float) -> SearchResult:
    return replace(
        as_result(ANSWER, similarity, AUDIENCE), page_title=f"page {similarity}", rank_score=0.5
    )


def test_a_kept_answer_stands_before_what_is_not_nearer() -> None:
    found = [passage(0.8), passage(0.4), passage(0.6)]
    placed = among(found, [as_result(ANSWER, 0.5, AUDIENCE)])
    assert [each.similarity_score for each in placed] == [0.8, 0.5, 0.4, 0.6]
    assert [each.rank for each in placed] == [1, 2, 3, 4]
    assert among([], [as_result(ANSWER, 0.5, AUDIENCE)])[0].page_title.startswith(
        "Staff answer by Cleo, "
    )


def test_a_kept_answer_is_read_below_its_question_which_is_not_quoted() -> None:
    answer = replace(ANSWER, question="Where do I leave my bicycle?")
    result = as_result(answer, 0.5, AUDIENCE)
    section = section_of(result)
    assert answer.question in section.breadcrumb
    assert answer.question in section.headed
    assert section.text == answer.text
    assert answer.question not in repr(result)
