"""Every question, from the moment it is accepted until its answer is posted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy import Float, bindparam, func, literal_column, or_, select, update

from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey
from rag_core.conversation.state import Turn
from rag_core.desk.asked import AskedQuestion
from rag_core.desk.incoming import IncomingQuestion, Receipt
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart, PartState
from rag_core.desk.progress import QuestionState
from rag_core.errors import StorageError
from rag_core.storage import schema
from rag_core.storage.answers import answer_by_id, answer_to
from rag_core.storage.asked import asked_in
from rag_core.storage.clock import SecondsFromNow
from rag_core.storage.codec import question_from_json, question_to_json, to_time
from rag_core.storage.engine import Database, Row, Transaction
from rag_core.storage.settlement import load_parts, settle
from rag_core.storage.statement import Statement, insert_once, upsert
from rag_core.storage.threads import IDLE, KEY, key_to_row

threads, questions, parts = schema.threads, schema.questions, schema.parts

WAIT = upsert(
    threads,
    on=KEY,
    change=lambda new: {"waiting_since": func.coalesce(threads.c.waiting_since, new.waiting_since)},
    without=("id",),
    returning="id",
)
ADD = insert_once(questions, returning="id")
KNOWN = Statement(
    select(questions.c.id).where(
        questions.c.platform == bindparam("platform"),
        questions.c.tenant == bindparam("tenant"),
        questions.c.channel_id == bindparam("channel_id"),
        questions.c.message_id == bindparam("message_id"),
    )
)
LEASE_END = SecondsFromNow(bindparam("lease", type_=Float))
CLAIMABLE = (
    select(threads.c.id)
    .where(
        threads.c.waiting_since.is_not(None),
        or_(
            threads.c.lease_until.is_(None),
            threads.c.lease_until <= SecondsFromNow(literal_column("0")),
        ),
    )
    .order_by(threads.c.waiting_since)
    .limit(1)
)
PEEK = Statement(CLAIMABLE)
PICK = Statement(CLAIMABLE.with_for_update(skip_locked=True))
FIRST_OPEN = (
    select(questions.c.id)
    .where(questions.c.thread == bindparam("in_thread"), questions.c.closed_at.is_(None))
    # An answer that is half posted comes before a question that was heard late.
    .order_by(questions.c.settled_at.is_(None), questions.c.position, questions.c.accepted_at)
    .limit(1)
    .scalar_subquery()
)
BEGIN = Statement(
    update(questions)
    .where(questions.c.id == FIRST_OPEN)
    .values(attempt=questions.c.attempt + 1)
    .returning(questions.c.id, questions.c.body, questions.c.attempt)
)
LEASE = Statement(
    update(threads)
    .where(threads.c.id == bindparam("in_thread"))
    .values(worker=bindparam("by"), lease_until=LEASE_END, claimed=bindparam("question"))
)
RENEW = Statement(
    update(threads)
    .where(
        threads.c.id
        == select(questions.c.thread)
        .where(questions.c.id == bindparam("question"))
        .scalar_subquery(),
        threads.c.claimed == bindparam("question"),
        threads.c.worker == bindparam("by"),
    )
    .values(lease_until=LEASE_END)
    .returning(threads.c.id)
)
RELEASE = Statement(
    update(threads)
    .where(threads.c.worker == bindparam("by"))
    .values(worker=None, lease_until=None, claimed=None)
    .returning(threads.c.id)
)
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
HOLD = Statement(
    select(threads.c.id, threads.c.claimed)
    .select_from(threads.join(questions))
    .where(questions.c.id == bindparam("question"))
    .with_for_update(of=threads)
)
CLOSE = Statement(
    update(questions)
    .where(questions.c.id == bindparam("question"), questions.c.closed_at.is_(None))
    .values(closed_at=bindparam("now"), delivered=bindparam("was_delivered"))
)
OLDEST_OPEN = (
    select(func.min(questions.c.accepted_at))
    .where(questions.c.thread == bindparam("in_thread"), questions.c.closed_at.is_(None))
    .scalar_subquery()
)
STILL_WAITING = Statement(
    update(threads).where(threads.c.id == bindparam("in_thread")).values(waiting_since=OLDEST_OPEN)
)
FREE = Statement(
    update(threads)
    .where(threads.c.id == bindparam("in_thread"))
    .values(waiting_since=OLDEST_OPEN, worker=None, lease_until=None, claimed=None)
)
STATE = Statement(select(questions.c.state).where(questions.c.id == bindparam("question")))
WAITING = Statement(
    select(func.count().label("waiting"))
    .select_from(questions)
    .where(questions.c.closed_at.is_(None))
)


class _Repeated(Exception):
    """The question is known already: undo what was begun for it."""


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
        except _Repeated:
            known = await self._database.rows(KNOWN, **identity_to_row(question))
            if not known:
                raise StorageError("The question was deleted while it was heard again.") from None
            return Receipt(question_id=UUID(known[0]["id"]), repeated=True)
        return Receipt(question_id=question_id, repeated=False)

    async def claim(self, *, worker: str, lease: timedelta) -> OpenQuestion | None:
        if not await self._database.rows(PEEK):
            return None

        async def body(transaction: Transaction) -> OpenQuestion | None:
            found = await transaction.rows(PICK)
            if not found:  # another worker was quicker
                return None
            return await take(transaction, found[0]["id"], worker=worker, lease=lease)

        return await self._database.write(body)

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


async def add_question(
    transaction: Transaction, question_id: UUID, question: IncomingQuestion
) -> None:
    """Write a question and let its thread wait for a worker."""
    now = to_time(datetime.now(UTC))
    found = await transaction.rows(
        WAIT, **key_to_row(question.key), **IDLE | {"updated_at": now, "waiting_since": now}
    )
    added = await transaction.rows(
        ADD,
        id=str(question_id),
        thread=found[0]["id"],
        **identity_to_row(question),
        asker_id=question.asker_id,
        position=question.position,
        body=question_to_json(question),
        state=QuestionState.PENDING.value,
        attempt=0,
        accepted_at=now,
        settled_at=None,
        closed_at=None,
        delivered=None,
    )
    if not added:
        raise _Repeated


async def take(
    transaction: Transaction, thread: int, *, worker: str, lease: timedelta
) -> OpenQuestion | None:
    """Claim a thread for the first of its open questions."""
    begun = await transaction.rows(BEGIN, in_thread=thread)
    if not begun:  # it waits for nothing any more
        await transaction.rows(STILL_WAITING, in_thread=thread)
        return None
    row = begun[0]
    await transaction.rows(
        LEASE, in_thread=thread, by=worker, lease=lease.total_seconds(), question=row["id"]
    )
    return OpenQuestion(
        question_id=UUID(row["id"]),
        question=question_from_json(row["body"]),
        attempt=row["attempt"],
        parts=await load_parts(transaction, row["id"]),
    )


async def close(transaction: Transaction, question: str, *, delivered: bool) -> None:
    """End a question; its thread is free for the next one."""
    # The thread's row is locked first and looked at again afterwards: a question that is
    # accepted meanwhile on another host is then either seen here or waits for us.
    held = await transaction.rows(HOLD, question=question)
    if not held:  # deleted with its thread
        return
    await transaction.rows(
        CLOSE, question=question, now=to_time(datetime.now(UTC)), was_delivered=delivered
    )
    after = FREE if held[0]["claimed"] in (question, None) else STILL_WAITING
    await transaction.rows(after, in_thread=held[0]["id"])


def identity_to_row(question: IncomingQuestion) -> dict[str, str]:
    identity = question.identity
    return {
        "platform": identity.platform,
        "tenant": identity.tenant,
        "channel_id": identity.channel_id,
        "message_id": identity.message_id,
    }


def must_be_known(rows: Sequence[Row]) -> None:
    """A part that is not there was deleted with its thread: it must not be posted."""
    if not rows:
        raise StorageError("The answer was deleted; nothing more of it is posted.")
