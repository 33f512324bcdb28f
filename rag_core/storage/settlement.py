"""The one transaction in which an answer becomes final."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import bindparam, select, update

from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.conversation.state import MAX_TOPIC_SUMMARY, Turn
from rag_core.desk.outgoing import OutgoingPart, PartState
from rag_core.desk.progress import QuestionState
from rag_core.errors import StorageError
from rag_core.storage import schema
from rag_core.storage.answers import add_answer
from rag_core.storage.codec import MESSAGES, RETRIEVALS, merged, to_json, to_time
from rag_core.storage.engine import Row, Transaction
from rag_core.storage.statement import Statement, insert_into

threads, sessions, turns = schema.threads, schema.sessions, schema.turns
questions, parts = schema.questions, schema.parts

FINAL = {
    Outcome.COMPLETED: QuestionState.COMPLETED,
    Outcome.LOW_CONFIDENCE: QuestionState.LOW_CONFIDENCE,
    Outcome.NO_RESULTS: QuestionState.NO_RESULTS,
    Outcome.ERROR: QuestionState.ERROR,
}

CLAIM = Statement(
    select(threads.c.id.label("thread"), questions.c.settled_at)
    .select_from(threads.join(questions))
    .where(
        questions.c.id == bindparam("question"),
        threads.c.claimed == questions.c.id,
        threads.c.worker == bindparam("by"),
    )
    .with_for_update(of=threads)
)
SESSION = Statement(
    select(sessions.c.id, sessions.c.metadata, sessions.c.topic_summary).where(
        sessions.c.session_id == bindparam("session_id"),
        sessions.c.thread == bindparam("in_thread"),
    )
)
GROW = Statement(
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values(
        turn_count=sessions.c.turn_count + 1,
        topic_summary=bindparam("summary"),
        metadata=bindparam("merged"),
    )
    .returning(sessions.c.turn_count)
)
ADD_TURN = Statement(insert_into(turns))
USED = Statement(
    update(threads)
    .where(threads.c.id == bindparam("in_thread"))
    .values(updated_at=bindparam("now"), archived_at=None)
)
ADD_PART = Statement(insert_into(parts))
SETTLED = Statement(
    update(questions)
    .where(questions.c.id == bindparam("question"))
    .values(state=bindparam("final"), settled_at=bindparam("now"))
)
PARTS = Statement(
    select(parts).where(parts.c.question == bindparam("question")).order_by(parts.c.number)
)


async def settle(
    transaction: Transaction,
    question: UUID,
    *,
    worker: str,
    response: AgentResponse,
    turn: Turn | None,
    parts: Sequence[str],
) -> tuple[OutgoingPart, ...]:
    """Store an answer, its turn and its parts; or hand out what was stored before."""
    held = await transaction.rows(CLAIM, question=str(question), by=worker)
    if not held:
        raise StorageError("The claim on this question was lost; its answer was not stored.")
    if held[0]["settled_at"] is not None:
        return await load_parts(transaction, str(question))
    now = to_time(datetime.now(UTC))
    if turn is not None:
        await add_turn(transaction, turn, thread=held[0]["thread"], question=question, now=now)
    await add_answer(transaction, response, question=question)
    await transaction.many(
        ADD_PART, [part_to_row(question, number, each) for number, each in enumerate(parts)]
    )
    final = FINAL[response.outcome].value
    await transaction.rows(SETTLED, question=str(question), final=final, now=now)
    return await load_parts(transaction, str(question))


async def add_turn(
    transaction: Transaction, turn: Turn, *, thread: int, question: UUID, now: str
) -> None:
    """Append an answered question to its thread."""
    found = await transaction.rows(SESSION, session_id=str(turn.session_id), in_thread=thread)
    if not found:
        raise StorageError("The turn's session is not one of its thread; it was not stored.")
    session, summary = found[0], turn.topic_summary
    grown = await transaction.rows(
        GROW,
        session=session["id"],
        summary=session["topic_summary"] if summary is None else summary[:MAX_TOPIC_SUMMARY],
        merged=merged(session["metadata"], turn.metadata),
    )
    await transaction.rows(
        ADD_TURN,
        session=session["id"],
        number=grown[0]["turn_count"],
        question=str(question),
        messages=to_json(MESSAGES, turn.messages),
        retrievals=to_json(RETRIEVALS, turn.retrievals),
        created_at=now,
    )
    await transaction.rows(USED, in_thread=thread, now=now)


async def load_parts(transaction: Transaction, question: str) -> tuple[OutgoingPart, ...]:
    """The outgoing parts of a question, in order; none before it is settled."""
    return tuple(part_from_row(row) for row in await transaction.rows(PARTS, question=question))


def part_to_row(question: UUID, number: int, payload: str) -> dict[str, object]:
    return {
        "question": str(question),
        "number": number,
        "payload": payload,
        "state": PartState.PENDING.value,
        "external_id": None,
    }


def part_from_row(row: Row) -> OutgoingPart:
    return OutgoingPart(
        question_id=UUID(row["question"]),
        number=row["number"],
        payload=row["payload"],
        state=PartState(row["state"]),
        external_id=row["external_id"],
    )
