"""Answers whose sources have changed since they were given."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import Integer, bindparam, select, update

from rag_core.agent.answer import AgentResponse
from rag_core.desk.backlog import ChangedAnswer
from rag_core.desk.outgoing import Rung
from rag_core.storage import schema
from rag_core.storage.engines.codec import question_from_json, to_time
from rag_core.storage.engines.engine import Database, Transaction
from rag_core.storage.engines.statement import Statement
from rag_core.storage.ledger.answers import answer_to
from rag_core.storage.ledger.claims import STILL_WAITING
from rag_core.storage.ledger.parting import lay_out
from rag_core.storage.ledger.turns_taken import queue

threads, questions = schema.threads, schema.questions
answers, citations = schema.answers, schema.citations

CITED = Statement(
    select(citations.c.chunk_id)
    .select_from(citations.join(answers))
    .where(citations.c.chunk_id > bindparam("after"), answers.c.source_changed_at.is_(None))
    .group_by(citations.c.chunk_id)
    .order_by(citations.c.chunk_id)
    .limit(bindparam("limit", type_=Integer))
)
MARK = Statement(
    update(answers)
    .where(
        answers.c.answer_id.in_(
            select(citations.c.answer_id).where(citations.c.chunk_id == bindparam("chunk"))
        ),
        answers.c.source_changed_at.is_(None),
    )
    .values(source_changed_at=bindparam("now"))
    .returning(answers.c.answer_id)
)
UNSHOWN = Statement(
    select(questions.c.id, questions.c.body, questions.c.rung)
    .select_from(answers.join(questions))
    .where(
        answers.c.source_changed_at.is_not(None),
        answers.c.change_shown_at.is_(None),
        questions.c.closed_at.is_not(None),
    )
    .order_by(answers.c.source_changed_at)
    .limit(bindparam("limit", type_=Integer))
)
SHOWN = Statement(
    update(answers)
    .where(answers.c.question == bindparam("of"))
    .values(change_shown_at=bindparam("now"))
)
HELD = Statement(
    select(questions.c.thread, questions.c.asker_id, questions.c.revision)
    .select_from(questions.join(threads))
    .where(
        questions.c.id == bindparam("question"),
        questions.c.closed_at.is_not(None),
        questions.c.delivered.is_(True),
        questions.c.withdrawn_at.is_(None),
    )
    .with_for_update(of=threads)
)
REOPEN = Statement(
    update(questions)
    .where(questions.c.id == bindparam("question"))
    .values(closed_at=None, attempt=0)
)


async def cited_after(database: Database, chunk_id: str, *, limit: int) -> Sequence[str]:
    """The next passages, by id, that an answer cites whose sources have not changed so far."""
    return [row["chunk_id"] for row in await database.rows(CITED, after=chunk_id, limit=limit)]


async def mark_changed(database: Database, chunk_ids: Sequence[str]) -> int:
    """Mark the answers that cite passages which are no longer there; how many they are."""
    now = to_time(datetime.now(UTC))

    async def body(transaction: Transaction) -> int:
        marked = [await transaction.rows(MARK, chunk=chunk, now=now) for chunk in chunk_ids]
        return sum(map(len, marked))

    return await database.write(body) if chunk_ids else 0


async def changed_answers(database: Database, *, limit: int) -> Sequence[ChangedAnswer]:
    """Marked answers whose messages do not say so yet, the first marked first."""
    found = []
    for row in await database.rows(UNSHOWN, limit=limit):
        response: AgentResponse | None = await answer_to(database, UUID(row["id"]))
        if response is not None:
            found.append(
                ChangedAnswer(
                    question_id=UUID(row["id"]),
                    question=question_from_json(row["body"]),
                    response=response,
                    rung=row["rung"] or Rung.RICH.value,
                )
            )
    return found


async def show_change(
    transaction: Transaction, question: UUID, payloads: Sequence[str] | None
) -> None:
    """Let a worker edit the messages of an answer; None: there are none to edit."""
    await transaction.rows(SHOWN, of=str(question), now=to_time(datetime.now(UTC)))
    if payloads is None:
        return
    held = await transaction.rows(HELD, question=str(question))
    if not held:
        return
    thread = held[0]["thread"]
    await lay_out(transaction, question, payloads, revision=held[0]["revision"])
    await transaction.rows(REOPEN, question=str(question))
    await transaction.rows(STILL_WAITING, in_thread=thread)
    await queue(transaction, thread, asker=held[0]["asker_id"])
