"""The turns of a session: appended, replaced in their place, taken out again."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, delete, func, select, update

from rag_core.conversation.state import MAX_TOPIC_SUMMARY, SUMMARISED, Turn
from rag_core.errors import StorageError
from rag_core.storage import schema
from rag_core.storage.engines.codec import MESSAGES, METADATA, RETRIEVALS, merged, to_json
from rag_core.storage.engines.engine import Transaction
from rag_core.storage.engines.statement import Statement, insert_into

threads, sessions, turns = schema.threads, schema.sessions, schema.turns
DERIVED = frozenset({"title", "standalone", "last_asker_id", "estimate", SUMMARISED})
"""What a session's metadata holds of the words and people of its turns."""

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
        turn_count=sessions.c.turn_count + bindparam("more"),
        topic_summary=bindparam("summary"),
        metadata=bindparam("merged"),
    )
)
NEXT_NUMBER = Statement(
    select((func.coalesce(func.max(turns.c.number), 0) + 1).label("number")).where(
        turns.c.session == bindparam("session")
    )
)
ADD_TURN = Statement(insert_into(turns))
REPLACE_TURN = Statement(
    update(turns)
    .where(turns.c.question == bindparam("of"))
    .values(messages=bindparam("said"), retrievals=bindparam("searched"))
)
EMPTY_TURN = Statement(
    update(turns)
    .where(turns.c.question == bindparam("of"))
    .values(messages="[]", retrievals="[]")
    .returning(turns.c.session)
)
TURN_OF = Statement(select(turns.c.session).where(turns.c.question == bindparam("of")))
DROP_TURN = Statement(
    delete(turns).where(turns.c.question == bindparam("of")).returning(turns.c.session)
)
SHRINK = Statement(
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values(turn_count=sessions.c.turn_count - 1)
)
SESSIONS = Statement(
    select(sessions.c.id, sessions.c.metadata).where(sessions.c.thread == bindparam("in_thread"))
)
UNSAY = Statement(
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values(topic_summary="", metadata=bindparam("left"))
)
USED = Statement(
    update(threads)
    .where(threads.c.id == bindparam("in_thread"))
    .values(updated_at=bindparam("now"), archived_at=None)
)


async def add_turn(
    transaction: Transaction, turn: Turn, *, thread: int, question: UUID, now: str
) -> None:
    """Append an answered question to its thread, or put it where its first answer stood."""
    found = await transaction.rows(SESSION, session_id=str(turn.session_id), in_thread=thread)
    if not found:
        raise StorageError("The turn's session is not one of its thread; it was not stored.")
    session, summary = found[0], turn.topic_summary
    known = await transaction.rows(TURN_OF, of=str(question))
    await transaction.rows(
        GROW,
        session=session["id"],
        more=0 if known else 1,
        summary=session["topic_summary"] if summary is None else summary[:MAX_TOPIC_SUMMARY],
        merged=merged(session["metadata"], turn.metadata),
    )
    said = to_json(MESSAGES, turn.messages)
    searched = to_json(RETRIEVALS, turn.retrievals)
    if known:
        await transaction.rows(REPLACE_TURN, of=str(question), said=said, searched=searched)
    else:
        following = await transaction.rows(NEXT_NUMBER, session=session["id"])
        await transaction.rows(
            ADD_TURN,
            session=session["id"],
            number=following[0]["number"],
            question=str(question),
            messages=said,
            retrievals=searched,
            created_at=now,
        )
    await transaction.rows(USED, in_thread=thread, now=now)


async def empty_turn(transaction: Transaction, question: str, *, thread: int) -> None:
    """Unsay a turn, and keep its place for the answer that replaces it."""
    if await transaction.rows(EMPTY_TURN, of=question):
        await unsay(transaction, thread)


async def drop_turn(transaction: Transaction, question: str, *, thread: int) -> None:
    """Take a turn out of its thread, with what the thread had learnt from it."""
    for row in await transaction.rows(DROP_TURN, of=question):
        await transaction.rows(SHRINK, session=row["session"])
        await unsay(transaction, thread)


async def unsay(transaction: Transaction, thread: int) -> None:
    """Forget what the thread's sessions derived from their turns; the next answer says it anew."""
    for row in await transaction.rows(SESSIONS, in_thread=thread):
        known: dict[str, Any] = json.loads(row["metadata"])
        left = {name: value for name, value in known.items() if name not in DERIVED}
        await transaction.rows(UNSAY, session=row["id"], left=to_json(METADATA, left))
