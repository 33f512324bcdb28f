"""How answered questions are known again, and which earlier question each of them repeats."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import Integer, bindparam, select

from rag_core.agent.answer import Outcome
from rag_core.desk.incoming import IncomingQuestion
from rag_core.insight.repeats import Asked, Candidate
from rag_core.storage import schema
from rag_core.storage.engines.codec import question_from_json, to_time
from rag_core.storage.engines.engine import Database, Transaction
from rag_core.storage.engines.statement import Statement, insert_once, upsert
from rag_core.storage.gap_rows import vector_from_text, vector_to_text

repeats, questions, answers, markers = (
    schema.repeats,
    schema.questions,
    schema.answers,
    schema.markers,
)

KEY_NAME = "repeats.key"
COMPARED = 500
"""The newest questions of a place; those before them are known no more."""

KEY = Statement(select(markers.c.value).where(markers.c.name == bindparam("name")))
MAKE_KEY = insert_once(markers, returning="name")
ANSWERED = Statement(
    select(repeats.c.question, repeats.c.digest, repeats.c.vector)
    .select_from(
        repeats.join(questions, questions.c.id == repeats.c.question).join(
            answers, answers.c.question == questions.c.id
        )
    )
    .where(
        repeats.c.place == bindparam("place"),
        repeats.c.question != bindparam("besides"),
        answers.c.outcome == Outcome.COMPLETED.value,
        questions.c.delivered.is_(True),
        questions.c.withdrawn_at.is_(None),
    )
    .order_by(repeats.c.asked_at.desc())
    .limit(bindparam("at_most", type_=Integer))
)
QUESTION = Statement(select(questions.c.body).where(questions.c.id == bindparam("question")))
REMEMBER = upsert(repeats, on=("question",))


class RepeatRecords:
    """Hashes and vectors of answered questions; all of it goes with the question."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def key(self) -> str:
        known = await self._database.rows(KEY, name=KEY_NAME)
        return str(known[0]["value"]) if known else await self._database.write(made_key)

    async def answered_in(self, place: str, *, besides: UUID) -> Sequence[Candidate]:
        found = await self._database.rows(
            ANSWERED, place=place, besides=str(besides), at_most=COMPARED
        )
        return [
            Candidate(
                question_id=UUID(row["question"]),
                digest=row["digest"],
                vector=vector_from_text(row["vector"]),
            )
            for row in found
        ]

    async def question(self, question_id: UUID) -> IncomingQuestion | None:
        rows = await self._database.rows(QUESTION, question=str(question_id))
        return question_from_json(rows[0]["body"]) if rows else None

    async def remember(self, asked: Asked, *, earlier: UUID | None) -> None:
        await self._database.note(
            REMEMBER,
            question=str(asked.question_id),
            place=asked.place,
            digest=asked.digest,
            vector=vector_to_text(asked.vector),
            earlier=str(earlier) if earlier else None,
            asked_at=to_time(datetime.now(UTC)),
        )


async def made_key(transaction: Transaction) -> str:
    """A secret of its own for this database; whoever comes second takes the first one's."""
    now = to_time(datetime.now(UTC))
    await transaction.rows(MAKE_KEY, name=KEY_NAME, value=secrets.token_hex(32), updated_at=now)
    return str((await transaction.rows(KEY, name=KEY_NAME))[0]["value"])
