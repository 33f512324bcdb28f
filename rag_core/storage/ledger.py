"""Every question, from the moment it is accepted until its answer is posted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID, uuid4

from sqlalchemy import bindparam, func, select, update

from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey
from rag_core.conversation.state import Turn
from rag_core.desk.asked import AskedQuestion
from rag_core.desk.incoming import IncomingQuestion, Receipt
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart, PartState
from rag_core.desk.progress import QuestionState
from rag_core.errors import StorageError
from rag_core.storage import schema
from rag_core.storage.acceptance import KNOWN, AlreadyAccepted, add_question, identity_to_row
from rag_core.storage.answers import answer_by_id, answer_to
from rag_core.storage.asked import asked_in
from rag_core.storage.claims import PEEK, PICK, RELEASE, RENEW, Claim, close, take
from rag_core.storage.engine import Database, Row, Transaction
from rag_core.storage.settlement import settle
from rag_core.storage.statement import Statement

questions, parts = schema.questions, schema.parts

ADVANCE = Statement(
    update(questions)
    .where(questions.c.id == bindparam("question"), questions.c.settled_at.is_(None))
    .values(state=bindparam("new_state"))
)
BEGIN_POST = Statement(
    update(parts)
    .where(parts.c.question == bindparam("of"), parts.c.number == bindparam("part"))
    .values(state=PartState.POSTING.value)
    .returning(parts.c.number)
)
POSTED = Statement(
    update(parts)
    .where(parts.c.question == bindparam("of"), parts.c.number == bindparam("part"))
    .values(state=PartState.POSTED.value, external_id=bindparam("external"))
    .returning(parts.c.number)
)
POSTED_PARTS = Statement(
    select(parts.c.external_id)
    .select_from(parts.join(schema.answers, parts.c.question == schema.answers.c.question))
    .where(
        schema.answers.c.answer_id == bindparam("answer_id"),
        parts.c.state == PartState.POSTED.value,
    )
    .order_by(parts.c.number)
)
STATE = Statement(select(questions.c.state).where(questions.c.id == bindparam("question")))
WAITING = Statement(
    select(func.count().label("waiting"))
    .select_from(questions)
    .where(questions.c.closed_at.is_(None))
)


class QuestionLedger:
    """A question is accepted once, worked on by one worker at a time, and settled once.

    The claim lies on the thread, so a thread can never have two."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(self, question: IncomingQuestion) -> Receipt:
        question_id = uuid4()

        async def body(transaction: Transaction) -> None:
            await add_question(transaction, question_id, question)

        try:
            await self._database.write(body)
        except AlreadyAccepted:
            known = await self._database.rows(KNOWN, **identity_to_row(question))
            if not known:
                raise StorageError("The question was deleted while it was heard again.") from None
            return Receipt(question_id=UUID(known[0]["id"]), repeated=True)
        return Receipt(question_id=question_id, repeated=False)

    async def claim(self, *, worker: str, lease: timedelta) -> OpenQuestion | None:
        if not await self._database.rows(PEEK):
            return None

        async def body(transaction: Transaction) -> Claim | None:
            found = await transaction.rows(PICK)
            if not found:  # another worker was quicker
                return None
            return await take(transaction, found[0]["id"], worker=worker, lease=lease)

        claim = await self._database.write(body)
        # Read when it is claimed: a question that this program cannot read holds up its own
        # thread and no other.
        return claim.read() if claim else None

    async def renew(self, question_id: UUID, *, worker: str, lease: timedelta) -> bool:
        held = await self._database.run(
            RENEW, question=str(question_id), by=worker, lease=lease.total_seconds()
        )
        return bool(held)

    async def release(self, *, worker: str) -> int:
        return len(await self._database.run(RELEASE, by=worker))

    async def advance(self, question_id: UUID, state: QuestionState) -> None:
        """Note how far a question has come; what has ended stays as it ended."""
        await self._database.run(ADVANCE, question=str(question_id), new_state=state.value)

    async def settle(
        self,
        question_id: UUID,
        *,
        worker: str,
        response: AgentResponse,
        turn: Turn | None,
        parts: Sequence[str],
    ) -> tuple[OutgoingPart, ...]:
        async def body(transaction: Transaction) -> tuple[OutgoingPart, ...]:
            return await settle(
                transaction, question_id, worker=worker, response=response, turn=turn, parts=parts
            )

        return await self._database.write(body)

    async def begin_post(self, part: OutgoingPart) -> None:
        known = await self._database.run(BEGIN_POST, of=str(part.question_id), part=part.number)
        must_be_known(known)

    async def posted(self, part: OutgoingPart, *, external_id: str) -> None:
        known = await self._database.run(
            POSTED, of=str(part.question_id), part=part.number, external=external_id
        )
        must_be_known(known)

    async def close(self, question_id: UUID, *, delivered: bool) -> None:
        async def body(transaction: Transaction) -> None:
            await close(transaction, str(question_id), delivered=delivered)

        await self._database.write(body)

    async def answer(self, answer_id: UUID) -> tuple[AgentResponse, ConversationKey] | None:
        return await answer_by_id(self._database, answer_id)

    async def posted_parts(self, answer_id: UUID) -> Sequence[str]:
        rows = await self._database.rows(POSTED_PARTS, answer_id=str(answer_id))
        return [row["external_id"] for row in rows]

    async def response_to(self, question_id: UUID) -> AgentResponse | None:
        return await answer_to(self._database, question_id)

    async def state_of(self, question_id: UUID) -> QuestionState | None:
        rows = await self._database.rows(STATE, question=str(question_id))
        return QuestionState(rows[0]["state"]) if rows else None

    async def asked_in(self, key: ConversationKey, *, limit: int = 100) -> Sequence[AskedQuestion]:
        return await asked_in(self._database, key, limit=limit)

    async def waiting(self) -> int:
        rows = await self._database.rows(WAITING)
        return int(rows[0]["waiting"])


def must_be_known(rows: Sequence[Row]) -> None:
    """A part that is not there was deleted with its thread: it must not be posted."""
    if not rows:
        raise StorageError("The answer was deleted; nothing more of it is posted.")
