"""A question is written down under the identity of its message, once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import Float, bindparam, func, select, update

from rag_core.desk.incoming import IncomingQuestion, Receipt, Refusal
from rag_core.desk.limits import Bounds
from rag_core.desk.progress import QuestionState
from rag_core.storage import schema
from rag_core.storage.conversations.threads import IDLE, KEY, THREAD_OF_QUESTION, key_to_row
from rag_core.storage.engines.clock import SecondsFromNow
from rag_core.storage.engines.codec import question_to_json, to_time
from rag_core.storage.engines.engine import Transaction
from rag_core.storage.engines.statement import Statement, insert_once, upsert
from rag_core.storage.ledger.admission import refusal_of, retry_at_of, tell_once
from rag_core.storage.ledger.forgotten import is_forgotten
from rag_core.storage.ledger.turns_taken import queue
from rag_core.storage.messages import has_identity, identity_to_row

threads, questions = schema.threads, schema.questions

WAIT = upsert(
    threads,
    on=KEY,
    change=lambda new: {"waiting_since": func.coalesce(threads.c.waiting_since, new.waiting_since)},
    without=("id",),
    returning="id",
)
before = questions.alias("before")
WAIT_A_LITTLE = Statement(
    update(threads)
    .where(
        threads.c.id == THREAD_OF_QUESTION,
        threads.c.lease_until.is_(None),
        select(before.c.id)
        .where(before.c.thread == threads.c.id, before.c.id != bindparam("question"))
        .exists(),
    )
    .values(lease_until=SecondsFromNow(bindparam("grace", type_=Float)))
)
"""Nobody takes a thread up for a moment: what was written first there may be heard last."""
ADD = insert_once(questions, returning="id")
KNOWN = Statement(select(questions.c.id, questions.c.refusal).where(has_identity(questions)))


class AlreadyAccepted(Exception):
    """The question is known already: undo what was begun for it."""


async def accept(
    transaction: Transaction, question_id: UUID, question: IncomingQuestion, bounds: Bounds
) -> Receipt:
    """Whether a question is admitted is decided before its message counts as seen.

    The first refusal is written down like a question, so that its notice is sent like an answer;
    of the next ones nothing is written, and the platform tells the asker."""
    known = await transaction.rows(KNOWN, **identity_to_row(question.identity))
    if known:
        return receipt_of(known[0]["id"], known[0]["refusal"])
    if await is_forgotten(transaction, question.identity):
        return Receipt(question_id=question_id, repeated=True)
    refusal = await refusal_of(transaction, question, bounds)
    retry_at = await retry_at_of(transaction, question, bounds, refusal)
    is_written = refusal is None or await tell_once(transaction, question, refusal)
    if is_written:
        question = replace(question, retry_at=retry_at)
        await add_question(transaction, question_id, question, refusal=refusal)
        if bounds.grace_seconds:
            await transaction.rows(
                WAIT_A_LITTLE, question=str(question_id), grace=bounds.grace_seconds
            )
    return Receipt(
        question_id=question_id,
        repeated=False,
        refusal=refusal,
        retry_at=retry_at,
        notice_follows=is_written,
    )


async def add_question(
    transaction: Transaction,
    question_id: UUID,
    question: IncomingQuestion,
    *,
    refusal: Refusal | None,
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
        **identity_to_row(question.identity),
        asker_id=question.asker_id,
        position=question.position,
        body=question_to_json(question),
        state=QuestionState.PENDING.value,
        attempt=0,
        accepted_at=now,
        settled_at=None,
        closed_at=None,
        delivered=None,
        revision=0,
        withdrawn_at=None,
        told_at=None,
        refusal=None if refusal is None else refusal.value,
        rung=None,
    )
    if not added:
        raise AlreadyAccepted
    await queue(transaction, found[0]["id"], asker=question.asker_id)


def receipt_of(question: str, refusal: str | None) -> Receipt:
    return Receipt(
        question_id=UUID(question),
        repeated=True,
        refusal=None if refusal is None else Refusal(refusal),
    )
