"""Settled answers with their citations, written once and read back."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, and_, bindparam, delete, select

from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey
from rag_core.storage import schema
from rag_core.storage.conversations.threads import key_from_row
from rag_core.storage.engines.codec import (
    answer_from_rows,
    answer_to_row,
    citation_to_row,
)
from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement, insert_into

answers, citations = schema.answers, schema.citations
questions, threads = schema.questions, schema.threads
repeats, earlier = schema.repeats, schema.questions.alias("earlier")

ADD = Statement(insert_into(answers))
ADD_CITATION = Statement(insert_into(citations))
DROP = Statement(delete(answers).where(answers.c.question == bindparam("of")))


def read(condition: ColumnElement[bool], *order: ColumnElement[str]) -> Statement:
    """Answers and their threads' keys, repeated for each of their citations."""
    return Statement(
        select(
            answers,
            threads.c.platform,
            threads.c.tenant,
            threads.c.channel_id,
            threads.c.thread_id,
            citations.c.number,
            citations.c.page_title,
            citations.c.section_heading,
            citations.c.module,
            citations.c.page_url,
            citations.c.chunk_id,
            citations.c.content_hash,
            citations.c.quote,
            earlier.c.body.label("earlier_body"),
        )
        .select_from(
            answers.join(questions, questions.c.id == answers.c.question)
            .join(threads)
            .outerjoin(citations)
            .outerjoin(repeats, repeats.c.question == answers.c.question)
            .outerjoin(
                earlier,
                and_(earlier.c.id == repeats.c.earlier, earlier.c.withdrawn_at.is_(None)),
            )
        )
        .where(condition)
        .order_by(*order, citations.c.number)
    )


BY_ID = read(answers.c.answer_id == bindparam("answer_id"))
BY_QUESTION = read(answers.c.question == bindparam("question"))


async def add_answer(transaction: Transaction, response: AgentResponse, *, question: UUID) -> None:
    """Write an answer with its citations."""
    await transaction.rows(ADD, question=str(question), **answer_to_row(response))
    await transaction.many(
        ADD_CITATION,
        [citation_to_row(each, answer_id=response.answer_id) for each in response.citations],
    )


async def drop_answer(transaction: Transaction, question: str) -> None:
    """Take out an earlier answer, with its citations and what readers thought of it."""
    await transaction.rows(DROP, of=question)


async def answer_by_id(
    database: Database, answer_id: UUID
) -> tuple[AgentResponse, ConversationKey] | None:
    """An answer and the thread that it was given in."""
    rows = await database.rows(BY_ID, answer_id=str(answer_id))
    return (response_from(rows), key_from_row(rows[0])) if rows else None


async def answer_to(database: Database, question: UUID) -> AgentResponse | None:
    """The answer to a question."""
    rows = await database.rows(BY_QUESTION, question=str(question))
    return response_from(rows) if rows else None


def response_from(rows: Sequence[Row]) -> AgentResponse:
    """An answer without citations is one row without a number."""
    return answer_from_rows(rows[0], [row for row in rows if row["number"] is not None])
