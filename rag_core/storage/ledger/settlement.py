"""The one transaction in which an answer becomes final."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import bindparam, select, update

from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.conversation.state import Turn
from rag_core.desk.outgoing import OutgoingPart
from rag_core.desk.progress import QuestionState
from rag_core.errors import ClaimLost, Superseded
from rag_core.storage import schema
from rag_core.storage.conversations.turn_rows import add_turn, drop_turn
from rag_core.storage.engines.codec import to_time
from rag_core.storage.engines.engine import Row, Transaction
from rag_core.storage.engines.statement import Statement
from rag_core.storage.ledger.answers import add_answer, drop_answer
from rag_core.storage.ledger.parting import lay_out, load_parts
from rag_core.storage.ledger.token_usage import count_tokens

threads, questions = schema.threads, schema.questions

FINAL = {
    Outcome.COMPLETED: QuestionState.COMPLETED,
    Outcome.LOW_CONFIDENCE: QuestionState.LOW_CONFIDENCE,
    Outcome.NO_RESULTS: QuestionState.NO_RESULTS,
    Outcome.ERROR: QuestionState.ERROR,
}

CLAIM = Statement(
    select(
        threads.c.id.label("thread"),
        threads.c.platform,
        threads.c.tenant,
        questions.c.settled_at,
        questions.c.revision,
    )
    .select_from(threads.join(questions))
    .where(
        questions.c.id == bindparam("question"),
        threads.c.claimed == questions.c.id,
        threads.c.worker == bindparam("by"),
    )
    .with_for_update(of=threads)
)
SETTLED = Statement(
    update(questions)
    .where(questions.c.id == bindparam("question"))
    .values(state=bindparam("final"), settled_at=bindparam("now"), rung=None)
)
STEP_DOWN = Statement(
    update(questions).where(questions.c.id == bindparam("question")).values(rung=bindparam("step"))
)


async def settle(
    transaction: Transaction,
    question: UUID,
    *,
    worker: str,
    revision: int,
    response: AgentResponse,
    turn: Turn | None,
    parts: Sequence[str],
) -> tuple[OutgoingPart, ...]:
    """Store an answer, its turn and its parts; or hand out what was stored before."""
    held = await held_claim(transaction, question, worker=worker, revision=revision)
    if held["settled_at"] is not None:
        return await load_parts(transaction, str(question))
    now = to_time(datetime.now(UTC))
    thread = held["thread"]
    if turn is not None:
        await add_turn(transaction, turn, thread=thread, question=question, now=now)
    else:
        await drop_turn(transaction, str(question), thread=thread)
    await drop_answer(transaction, str(question))
    await add_answer(transaction, response, question=question)
    await count_tokens(transaction, held, response.tokens_used)
    final = FINAL[response.outcome].value
    await transaction.rows(SETTLED, question=str(question), final=final, now=now)
    return await lay_out(transaction, question, parts, revision=revision)


async def step_down(
    transaction: Transaction,
    question: UUID,
    *,
    worker: str,
    revision: int,
    rung: str,
    parts: Sequence[str],
) -> tuple[OutgoingPart, ...]:
    """Show a settled answer in a plainer form."""
    await held_claim(transaction, question, worker=worker, revision=revision)
    await transaction.rows(STEP_DOWN, question=str(question), step=rung)
    return await lay_out(transaction, question, parts, revision=revision)


async def held_claim(
    transaction: Transaction, question: UUID, *, worker: str, revision: int
) -> Row:
    held = await transaction.rows(CLAIM, question=str(question), by=worker)
    if not held:
        raise ClaimLost("The claim on this question was lost; its answer was not stored.")
    if held[0]["revision"] != revision:
        raise Superseded("The question was changed or taken back; its answer was not stored.")
    return held[0]
