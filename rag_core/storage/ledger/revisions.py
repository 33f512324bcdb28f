"""What askers do to a question after they have asked it: each change is one transaction."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import bindparam, select, update

from rag_core.conversation.question import Question
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity, Receipt
from rag_core.desk.limits import Bounds
from rag_core.desk.progress import QuestionState
from rag_core.storage import schema
from rag_core.storage.conversations.turn_rows import drop_turn, empty_turn
from rag_core.storage.engines.codec import question_from_json, question_to_json, to_time
from rag_core.storage.engines.engine import Row, Transaction
from rag_core.storage.engines.statement import Statement
from rag_core.storage.ledger.admission import count_again, refusal_of, retry_at_of
from rag_core.storage.ledger.answers import drop_answer
from rag_core.storage.ledger.claims import STILL_WAITING
from rag_core.storage.ledger.parting import recall
from rag_core.storage.ledger.turns_taken import queue
from rag_core.storage.messages import has_identity, identity_to_row

threads, questions, answers = schema.threads, schema.questions, schema.answers
WITHDRAWN = "(withdrawn)"
"""What is left of the words of a question that was taken back."""

FOUND = (
    questions.c.id,
    questions.c.thread,
    questions.c.asker_id,
    questions.c.body,
    questions.c.settled_at,
    questions.c.closed_at,
    questions.c.withdrawn_at,
    questions.c.refusal,
)
BY_IDENTITY = Statement(
    select(*FOUND)
    .select_from(questions.join(threads))
    .where(has_identity(questions))
    .with_for_update(of=threads)
)
BY_ANSWER = Statement(
    select(*FOUND)
    .select_from(questions.join(threads).join(answers))
    .where(answers.c.answer_id == bindparam("answer_id"))
    .with_for_update(of=threads)
)
REOPEN = Statement(
    update(questions)
    .where(questions.c.id == bindparam("question"))
    .values(
        body=bindparam("new_body"),
        revision=questions.c.revision + 1,
        state=QuestionState.PENDING.value,
        attempt=0,
        accepted_at=bindparam("since"),
        settled_at=None,
        closed_at=None,
        told_at=None,
        rung=None,
    )
)
ACCEPTED = Statement(select(questions.c.accepted_at).where(questions.c.id == bindparam("question")))
WITHDRAW = Statement(
    update(questions)
    .where(questions.c.id == bindparam("question"))
    .values(
        body=bindparam("new_body"),
        revision=questions.c.revision + 1,
        attempt=0,
        settled_at=None,
        closed_at=None,
        withdrawn_at=bindparam("now"),
    )
)


async def revise(transaction: Transaction, question: IncomingQuestion) -> UUID | None:
    """Put another text in the place of a question; None where nothing changes."""
    known = await find(transaction, question.identity)
    if known is None or known["refusal"] is not None:
        return None
    stored = question_from_json(known["body"])
    if stored.question.was_written_as(question.question):
        return None
    revised = replace(
        stored,
        question=question.question.keeping_context_of(stored.question),
        original_length=question.original_length,
        locale=question.locale,
        address={**stored.address, **question.address},
    )
    return await reopen(transaction, known, revised)


async def ask_again(
    transaction: Transaction, answer_id: UUID, *, asker_id: str, bounds: Bounds
) -> Receipt | None:
    """Answer the same question anew, unless that is under way; None: there is no such answer."""
    found = await transaction.rows(BY_ANSWER, answer_id=str(answer_id))
    if not found or found[0]["withdrawn_at"] is not None or found[0]["refusal"] is not None:
        return None
    question_id = UUID(found[0]["id"])
    if found[0]["settled_at"] is None:
        return Receipt(question_id=question_id, repeated=True)
    stored = question_from_json(found[0]["body"])
    theirs = replace(stored, asker_id=asker_id)
    if refusal := await refusal_of(transaction, theirs, bounds):
        retry_at = await retry_at_of(transaction, theirs, bounds, refusal)
        return Receipt(
            question_id=question_id,
            repeated=False,
            refusal=refusal,
            retry_at=retry_at,
            notice_follows=False,
        )
    if bounds.user_hour:
        await count_again(transaction, theirs)
    await reopen(transaction, found[0], stored)
    return Receipt(question_id=question_id, repeated=False)


async def withdraw(
    transaction: Transaction, identity: MessageIdentity, *, asker_id: str | None
) -> UUID | None:
    """Take a question back: its answer is gone now, its messages once a worker removed them."""
    rows = await transaction.rows(BY_IDENTITY, **identity_to_row(identity))
    if not rows or asker_id not in (None, rows[0]["asker_id"]):
        return None
    known = rows[0]
    if known["withdrawn_at"] is not None:
        return UUID(known["id"])
    stored = question_from_json(known["body"])
    blank = replace(stored, question=Question(message=WITHDRAWN))
    await drop_turn(transaction, known["id"], thread=known["thread"])
    await drop_answer(transaction, known["id"])
    await recall(transaction, known["id"])
    await transaction.rows(
        WITHDRAW,
        question=known["id"],
        new_body=question_to_json(blank),
        now=to_time(datetime.now(UTC)),
    )
    await wait_again(transaction, known)
    return UUID(known["id"])


async def find(transaction: Transaction, identity: MessageIdentity) -> Row | None:
    """A question that its asker has not taken back."""
    rows = await transaction.rows(BY_IDENTITY, **identity_to_row(identity))
    return rows[0] if rows and rows[0]["withdrawn_at"] is None else None


async def reopen(transaction: Transaction, known: Row, question: IncomingQuestion) -> UUID:
    """Let a question be answered as if it had not been; its messages are kept for the answer."""
    waited = await transaction.rows(ACCEPTED, question=known["id"])
    answered = known["settled_at"] is not None
    await empty_turn(transaction, known["id"], thread=known["thread"])
    await recall(transaction, known["id"])
    await transaction.rows(
        REOPEN,
        question=known["id"],
        new_body=question_to_json(question),
        since=to_time(datetime.now(UTC)) if answered else waited[0]["accepted_at"],
    )
    await wait_again(transaction, known)
    return UUID(known["id"])


async def wait_again(transaction: Transaction, known: Row) -> None:
    await transaction.rows(STILL_WAITING, in_thread=known["thread"])
    await queue(transaction, known["thread"], asker=known["asker_id"])
