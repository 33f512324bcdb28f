"""What askers thought of their answers."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import bindparam, select

from rag_core.errors import InvalidQuestion
from rag_core.storage import schema
from rag_core.storage.engines.codec import to_time
from rag_core.storage.engines.engine import Database, Transaction
from rag_core.storage.engines.statement import Statement, upsert

answers, feedback = schema.answers, schema.feedback
FIND_ANSWER = Statement(
    select(answers.c.answer_id).where(answers.c.answer_id == bindparam("answer_id"))
)
RATED = Statement(
    select(feedback.c.helpful).where(
        feedback.c.answer_id == bindparam("answer_id"), feedback.c.asker_id == bindparam("asker_id")
    )
)
RATE = upsert(feedback, on=("answer_id", "asker_id"))


class Feedback:
    """One rating an asker and answer; a second one replaces the first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def rated(self, *, answer_id: UUID, asker_id: str) -> bool | None:
        rows = await self._database.rows(RATED, answer_id=str(answer_id), asker_id=asker_id)
        return bool(rows[0]["helpful"]) if rows else None

    async def rate(
        self, *, answer_id: UUID, asker_id: str, helpful: bool, reason: str = ""
    ) -> None:
        async def body(transaction: Transaction) -> None:
            if not await transaction.rows(FIND_ANSWER, answer_id=str(answer_id)):
                raise InvalidQuestion("answer_id", "There is no answer with this answer_id.")
            await transaction.rows(
                RATE,
                answer_id=str(answer_id),
                asker_id=asker_id,
                helpful=helpful,
                reason=reason,
                rated_at=to_time(datetime.now(UTC)),
            )

        await self._database.write(body)
