"""How answered questions are known again, and which earlier question each of them repeats."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

from sqlalchemy import Integer, bindparam, select

from rag_core.agent.answer import Outcome
from rag_core.desk.incoming import IncomingQuestion
from rag_core.insight.repeats import Asked, Candidate
from rag_core.storage import schema
from rag_core.storage.engines.codec import question_from_json, to_time
from rag_core.storage.engines.engine import Database
from rag_core.storage.engines.statement import Statement, upsert
from rag_core.storage.hash_keys import known_key, made_key
from rag_core.storage.vector_text import halves_from_text, vector_to_text

repeats, questions, answers = schema.repeats, schema.questions, schema.answers

KEY_NAME = "repeats.key"
COMPARED = 200
"""The newest questions of a place; those before them are known no more."""

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
        known = await known_key(self._database, KEY_NAME)
        if known is not None:
            return known
        return await self._database.write(partial(made_key, name=KEY_NAME))

    async def answered_in(self, place: str, *, besides: UUID) -> Sequence[Candidate]:
        found = await self._database.rows(
            ANSWERED, place=place, besides=str(besides), at_most=COMPARED
        )
        return [
            Candidate(row["question"], row["digest"], halves_from_text(row["vector"]))
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
