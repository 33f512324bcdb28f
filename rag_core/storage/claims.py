"""The claim of a worker: it lies on a thread, so that a thread can never have two."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import Float, bindparam, func, literal_column, or_, select, update

from rag_core.desk.outgoing import OpenQuestion, OutgoingPart
from rag_core.storage import schema
from rag_core.storage.clock import SecondsFromNow
from rag_core.storage.codec import question_from_json, to_time
from rag_core.storage.engine import Row, Transaction
from rag_core.storage.settlement import load_parts
from rag_core.storage.statement import Statement

threads, questions = schema.threads, schema.questions

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claimed question as it is stored, with its parts if it is settled."""

    row: Row
    parts: tuple[OutgoingPart, ...]

    def read(self) -> OpenQuestion:
        return OpenQuestion(
            question_id=UUID(self.row["id"]),
            question=question_from_json(self.row["body"]),
            attempt=self.row["attempt"],
            parts=self.parts,
        )


async def take(
    transaction: Transaction, thread: int, *, worker: str, lease: timedelta
) -> Claim | None:
    """Claim a thread for the first of its open questions."""
    begun = await transaction.rows(BEGIN, in_thread=thread)
    if not begun:  # it waits for nothing any more
        await transaction.rows(STILL_WAITING, in_thread=thread)
        return None
    row = begun[0]
    await transaction.rows(
        LEASE, in_thread=thread, by=worker, lease=lease.total_seconds(), question=row["id"]
    )
    return Claim(row=row, parts=await load_parts(transaction, row["id"]))


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
