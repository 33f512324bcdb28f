"""A question is written down under the identity of its message, once."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import bindparam, func, select

from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import QuestionState
from rag_core.storage import schema
from rag_core.storage.codec import question_to_json, to_time
from rag_core.storage.engine import Transaction
from rag_core.storage.statement import Statement, insert_once, upsert
from rag_core.storage.threads import IDLE, KEY, key_to_row

threads, questions = schema.threads, schema.questions

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


class AlreadyAccepted(Exception):
    """The question is known already: undo what was begun for it."""


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
        raise AlreadyAccepted


def identity_to_row(question: IncomingQuestion) -> dict[str, str]:
    identity = question.identity
    return {
        "platform": identity.platform,
        "tenant": identity.tenant,
        "channel_id": identity.channel_id,
        "message_id": identity.message_id,
    }
