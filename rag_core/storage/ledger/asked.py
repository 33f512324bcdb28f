"""The questions of a thread with their answers, for whoever shows the thread."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from uuid import UUID

from sqlalchemy import Integer, bindparam, select

from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.desk.asked import AskedQuestion
from rag_core.desk.progress import QuestionState
from rag_core.storage import schema
from rag_core.storage.conversations.threads import has_key, key_to_row
from rag_core.storage.engines.codec import question_from_json
from rag_core.storage.engines.engine import Database
from rag_core.storage.engines.statement import Statement
from rag_core.storage.ledger.answers import read, response_from

answers, questions, threads = schema.answers, schema.questions, schema.threads

NEWEST = (
    select(questions.c.id, questions.c.body, questions.c.state)
    .select_from(questions.join(threads))
    .where(has_key(), questions.c.withdrawn_at.is_(None))
    .order_by(questions.c.position.desc(), questions.c.accepted_at.desc())
    .limit(bindparam("at_most", type_=Integer))
)
ASKED = Statement(NEWEST)
ANSWERED = read(answers.c.question.in_(select(NEWEST.subquery().c.id)), answers.c.answer_id)

BY_PERSON = Statement(
    select(questions.c.body)
    .where(
        questions.c.platform == bindparam("platform"),
        questions.c.asker_id == bindparam("asker_id"),
        questions.c.tenant == bindparam("tenant"),
        questions.c.withdrawn_at.is_(None),
    )
    .order_by(questions.c.accepted_at.desc())
    .limit(bindparam("at_most", type_=Integer))
)


async def asked_by(
    database: Database, *, platform: Platform, tenant: TenantId, asker_id: str, limit: int
) -> Sequence[str]:
    """What a person asked in one server or workspace, the newest first."""
    rows = await database.rows(
        BY_PERSON, platform=platform.value, tenant=tenant, asker_id=asker_id, at_most=limit
    )
    return [question_from_json(row["body"]).question.message for row in rows]


async def asked_in(
    database: Database, key: ConversationKey, *, limit: int
) -> Sequence[AskedQuestion]:
    """The newest questions of a thread, in the thread's order."""
    values = key_to_row(key) | {"at_most": limit}
    given = await responses(database, values)
    made = []
    for row in await database.rows(ASKED, **values):
        incoming = question_from_json(row["body"])
        made.append(
            AskedQuestion(
                question_id=UUID(row["id"]),
                message_id=incoming.message_id,
                message=incoming.question.message,
                state=QuestionState(row["state"]),
                heard_at=incoming.heard_at,
                response=given.get(row["id"]),
            )
        )
    return made[::-1]


async def responses(database: Database, values: dict[str, str | int]) -> dict[str, AgentResponse]:
    """The settled answers, by question; an answer stands once for each of its citations."""
    rows = await database.rows(ANSWERED, **values)
    by_question = groupby(rows, key=lambda row: str(row["question"]))
    return {question: response_from(list(cited)) for question, cited in by_question}
