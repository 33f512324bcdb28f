"""Reads the stories of answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from uuid import UUID

from sqlalchemy import Integer, bindparam, select

from rag_core.agent.answer import Outcome
from rag_core.books.book import BookIds
from rag_core.conversation.state import RetrievalRecord
from rag_core.insight.story import Rating, Story, StoryLine
from rag_core.storage import schema
from rag_core.storage.engines.codec import (
    RETRIEVALS,
    answer_body,
    from_json,
    from_time,
    is_looked_up_within,
)
from rag_core.storage.engines.engine import Database, Row
from rag_core.storage.engines.statement import Statement
from rag_core.storage.ledger.answers import answer_by_id

questions, answers, turns, feedback = (
    schema.questions,
    schema.answers,
    schema.turns,
    schema.feedback,
)

IN_A_LIST = (
    answers.c.answer_id,
    answers.c.body,
    answers.c.outcome,
    answers.c.confidence,
    questions.c.platform,
    questions.c.accepted_at,
    questions.c.settled_at,
)
SCANNED = 10_000
"""How many of the newest answers are gone through for those of some books."""

RECENT = Statement(
    select(*IN_A_LIST)
    .select_from(questions.join(answers))
    .where(questions.c.accepted_at > "")
    .order_by(questions.c.accepted_at.desc())
    .limit(bindparam("at_most", type_=Integer))
)
LOOKED_UP = Statement(
    select(answers.c.answer_id, turns.c.retrievals)
    .select_from(questions.join(answers).join(turns, turns.c.question == questions.c.id))
    .where(questions.c.accepted_at > "")
    .order_by(questions.c.accepted_at.desc())
    .limit(SCANNED)
)
LINE = Statement(
    select(*IN_A_LIST)
    .select_from(answers.join(questions))
    .where(answers.c.answer_id == bindparam("answer_id"))
)
ASKED = Statement(
    select(
        questions.c.platform,
        questions.c.accepted_at,
        questions.c.settled_at,
        questions.c.delivered,
        questions.c.attempt,
        turns.c.retrievals,
    )
    .select_from(answers.join(questions).outerjoin(turns, turns.c.question == questions.c.id))
    .where(answers.c.answer_id == bindparam("answer_id"))
)
RATINGS = Statement(
    select(feedback.c.helpful, feedback.c.reason, feedback.c.rated_at).where(
        feedback.c.answer_id == bindparam("answer_id")
    )
)


class Stories:
    """What is stored of answers, without their askers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def recent(self, *, limit: int, books: BookIds | None = None) -> Sequence[StoryLine]:
        if books is None:
            return [line(row) for row in await self._database.rows(RECENT, at_most=limit)]
        looked_up = await self._database.rows(LOOKED_UP)
        own = (row["answer_id"] for row in looked_up if is_looked_up_within(row, books))
        rows = [
            row
            for answer_id in islice(own, limit)
            for row in await self._database.rows(LINE, answer_id=answer_id)
        ]
        return [line(row) for row in rows]

    async def of(self, answer_id: UUID, *, books: BookIds | None = None) -> Story | None:
        found = await answer_by_id(self._database, answer_id)
        asked = await self._database.rows(ASKED, answer_id=str(answer_id))
        if found is None or not asked:
            return None
        row = asked[0]
        if books is not None and not is_looked_up_within(row, books):
            return None
        return Story(
            response=found[0],
            platform=row["platform"],
            asked_at=from_time(row["accepted_at"]),
            stored_at=from_time(row["settled_at"] or row["accepted_at"]),
            delivered=None if row["delivered"] is None else bool(row["delivered"]),
            attempts=row["attempt"],
            searches=searches(row),
            ratings=await self._ratings(answer_id),
        )

    async def _ratings(self, answer_id: UUID) -> tuple[Rating, ...]:
        rows = await self._database.rows(RATINGS, answer_id=str(answer_id))
        return tuple(
            Rating(
                helpful=bool(row["helpful"]),
                reason=row["reason"],
                rated_at=from_time(row["rated_at"]),
            )
            for row in rows
        )


def line(row: Row) -> StoryLine:
    asked, settled = from_time(row["accepted_at"]), row["settled_at"]
    return StoryLine(
        answer_id=UUID(row["answer_id"]),
        question=answer_body(row["body"]).query,
        platform=row["platform"],
        outcome=Outcome(row["outcome"]),
        confidence=row["confidence"],
        asked_at=asked,
        seconds=(from_time(settled) - asked).total_seconds() if settled else 0.0,
    )


def searches(row: Row) -> tuple[RetrievalRecord, ...]:
    """An apology has no turn, and so nothing that was looked up."""
    return from_json(RETRIEVALS, row["retrievals"]) if row["retrievals"] else ()
