"""The claim of a worker: it lies on a thread, so that a thread can never have two."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import Float, bindparam, case, func, select, update

from rag_core.desk.incoming import Refusal
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart, Rung
from rag_core.storage import schema
from rag_core.storage.conversations.threads import THREAD_OF_QUESTION
from rag_core.storage.engines.clock import SecondsFromNow
from rag_core.storage.engines.codec import question_from_json, to_time
from rag_core.storage.engines.engine import Row, Transaction
from rag_core.storage.engines.statement import Statement
from rag_core.storage.ledger.parting import load_parts
from rag_core.storage.ledger.turns_taken import queue, served

threads, questions, answers = schema.threads, schema.questions, schema.answers

LEASE_END = SecondsFromNow(bindparam("lease", type_=Float))
UNCLAIMED = {"worker": None, "lease_until": None, "claimed": None}
FIRST_IN_LINE = (
    select(questions.c.id)
    .where(questions.c.thread == bindparam("in_thread"), questions.c.closed_at.is_(None))
    # What was taken back goes first, and an answer that is half posted before a question that
    # was heard late.
    .order_by(
        questions.c.withdrawn_at.is_(None),
        questions.c.settled_at.is_(None),
        questions.c.position,
        questions.c.accepted_at,
    )
    .limit(1)
    .scalar_subquery()
)
BEGIN = Statement(
    update(questions)
    .where(questions.c.id == FIRST_IN_LINE)
    # A visit to a platform is an attempt; to answer is one when it is begun.
    .values(attempt=questions.c.attempt + case((questions.c.settled_at.is_(None), 0), else_=1))
    .returning(
        questions.c.id,
        questions.c.body,
        questions.c.attempt,
        questions.c.revision,
        questions.c.settled_at,
        questions.c.withdrawn_at,
        questions.c.refusal,
        questions.c.rung,
    )
)
BEGIN_ANSWER = Statement(
    update(questions)
    .where(questions.c.id == bindparam("question"))
    .values(attempt=questions.c.attempt + 1)
    .returning(questions.c.attempt)
)
UNBEGIN_ANSWER = Statement(
    update(questions)
    .where(
        questions.c.id == bindparam("question"),
        questions.c.settled_at.is_(None),
        questions.c.attempt > 0,
    )
    .values(attempt=questions.c.attempt - 1)
)
CHANGED = Statement(
    select(answers.c.source_changed_at).where(answers.c.question == bindparam("question"))
)
LEASE = Statement(
    update(threads)
    .where(threads.c.id == bindparam("in_thread"))
    .values(worker=bindparam("by"), lease_until=LEASE_END, claimed=bindparam("question"))
)
HELD = (
    threads.c.id == THREAD_OF_QUESTION,
    threads.c.claimed == bindparam("question"),
    threads.c.worker == bindparam("by"),
)
"""The claim is still this worker's."""
RENEW = Statement(
    update(threads).where(*HELD).values(lease_until=LEASE_END).returning(threads.c.id)
)
LET_GO = Statement(update(threads).where(*HELD).values(UNCLAIMED))
RELEASE = Statement(
    update(threads)
    .where(threads.c.worker == bindparam("by"))
    .values(UNCLAIMED)
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
    .where(
        questions.c.id == bindparam("question"),
        questions.c.closed_at.is_(None),
        questions.c.revision == bindparam("in_revision"),
    )
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
    .values(
        UNCLAIMED
        | {
            "waiting_since": OLDEST_OPEN,
            "waiting_asker": None,
            "tenant_turn": None,
            "asker_turn": None,
        }
    )
    .returning(threads.c.waiting_since)
)
NEXT_ASKER = Statement(select(questions.c.asker_id).where(questions.c.id == FIRST_IN_LINE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claimed question as it is stored, with the parts that are shown of it."""

    row: Row
    parts: tuple[OutgoingPart, ...]
    source_changed: bool

    def read(self) -> OpenQuestion:
        row = self.row
        return OpenQuestion(
            question_id=UUID(row["id"]),
            question=question_from_json(row["body"]),
            attempt=row["attempt"],
            parts=self.parts,
            settled=row["settled_at"] is not None,
            withdrawn=row["withdrawn_at"] is not None,
            source_changed=self.source_changed,
            revision=row["revision"],
            refusal=None if row["refusal"] is None else Refusal(row["refusal"]),
            rung=row["rung"] or Rung.RICH.value,
        )


async def take(
    transaction: Transaction, thread: int, *, worker: str, lease: timedelta
) -> Claim | None:
    """Claim a thread for the first of its open questions."""
    begun = await transaction.rows(BEGIN, in_thread=thread)
    if not begun:  # it waits for nothing any more
        await transaction.rows(FREE, in_thread=thread)
        return None
    row = begun[0]
    await transaction.rows(
        LEASE, in_thread=thread, by=worker, lease=lease.total_seconds(), question=row["id"]
    )
    changed = await transaction.rows(CHANGED, question=row["id"]) if row["settled_at"] else ()
    return Claim(
        row=row,
        parts=await load_parts(transaction, row["id"]),
        source_changed=bool(changed and changed[0]["source_changed_at"]),
    )


async def close(transaction: Transaction, question: str, *, revision: int, delivered: bool) -> None:
    """End a question; its thread is free for the next one.

    One that was changed meanwhile stays open, and its thread waits for a worker again."""
    # The thread's row is locked first and looked at again afterwards: a question that is
    # accepted meanwhile on another host is then either seen here or waits for us.
    held = await transaction.rows(HOLD, question=question)
    if not held:  # deleted with its thread
        return
    await transaction.rows(
        CLOSE,
        question=question,
        in_revision=revision,
        now=to_time(datetime.now(UTC)),
        was_delivered=delivered,
    )
    thread = held[0]["id"]
    if held[0]["claimed"] not in (question, None):
        await transaction.rows(STILL_WAITING, in_thread=thread)
    else:
        await go_on(transaction, thread)


async def go_on(transaction: Transaction, thread: int) -> None:
    """Free a thread; what is still open in it queues up again."""
    was = await served(transaction, thread)
    freed = await transaction.rows(FREE, in_thread=thread)
    if freed and freed[0]["waiting_since"] is not None:
        following = await transaction.rows(NEXT_ASKER, in_thread=thread)
        await queue(transaction, thread, asker=following[0]["asker_id"], was=was)
