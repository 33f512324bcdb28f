"""A thread as it is read: the row of its open session with the turns that are live."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, Select, bindparam, select

from rag_core.conversation.message import Message
from rag_core.conversation.state import CARRIED_TURNS, ConversationState, RetrievalRecord
from rag_core.storage import schema
from rag_core.storage.conversations.threads import has_key, key_from_row
from rag_core.storage.engines.codec import (
    ALL_MESSAGES,
    ALL_RETRIEVALS,
    METADATA,
    from_json,
    from_time,
    joined,
    maybe_time,
)
from rag_core.storage.engines.engine import Row
from rag_core.storage.engines.statement import Statement

threads, sessions, turns = schema.threads, schema.sessions, schema.turns
SHORTEST_TURN = 2
"""A question and its answer: so a number of messages takes at most half as many turns."""

HEAD = (
    threads.c.platform,
    threads.c.tenant,
    threads.c.channel_id,
    threads.c.thread_id,
    threads.c.updated_at,
    threads.c.archived_at,
    sessions.c.session_id,
    sessions.c.number,
    sessions.c.model,
    sessions.c.turn_count,
    sessions.c.topic_summary,
    sessions.c.metadata,
    sessions.c.created_at,
)
OPEN_SESSION = (sessions.c.thread == threads.c.id) & sessions.c.closed_at.is_(None)


def with_turns(which: ColumnElement[bool] = OPEN_SESSION) -> Select[tuple[object, ...]]:
    """A thread's session with its newest turns: one statement, so one moment in time."""
    return (
        select(turns.c.messages, turns.c.retrievals, *HEAD)
        .select_from(threads.join(sessions, which).outerjoin(turns))
        .order_by(turns.c.number.desc())
        .limit(bindparam("turns", type_=Integer))
    )


LOAD = Statement(with_turns().where(has_key()))
named = sessions.alias("named")
FIND = Statement(
    with_turns().where(
        threads.c.id
        == select(named.c.thread)
        .where(named.c.session_id == bindparam("session_id"))
        .scalar_subquery()
    )
)
READ = Statement(
    with_turns(sessions.c.thread == threads.c.id).where(
        sessions.c.session_id == bindparam("session_id")
    )
)
following = sessions.alias("following")
CARRIED = Statement(
    select(turns.c.messages)
    .select_from(
        turns.join(sessions).join(
            following,
            (following.c.thread == sessions.c.thread)
            & (following.c.number == sessions.c.number + 1),
        )
    )
    .where(following.c.session_id == bindparam("session_id"))
    .order_by(turns.c.number.desc())
    .limit(CARRIED_TURNS)
)
HISTORY = Statement(
    select(sessions.c.created_at, turns.c.messages)
    .select_from(sessions.outerjoin(turns))
    .where(sessions.c.session_id == bindparam("session_id"))
    .order_by(turns.c.number)
)
RECENT = Statement(
    select(*HEAD)
    .select_from(threads.join(sessions, OPEN_SESSION))
    .where(
        threads.c.platform == bindparam("platform"),
        threads.c.tenant == bindparam("tenant"),
        threads.c.channel_id == bindparam("channel_id"),
    )
    .order_by(threads.c.updated_at.desc())
    .limit(bindparam("limit", type_=Integer))
)


def turns_for(messages: int) -> int:
    """How many turns hold this many messages, at the most."""
    return max(1, -(-messages // SHORTEST_TURN))


def state_from_rows(rows: Sequence[Row], last_messages: int) -> ConversationState:
    """A thread from the row of its session, repeated for each turn, the newest first."""
    stored = with_messages(rows[::-1])
    messages = messages_from(stored)
    return state_from_row(
        rows[0],
        messages=messages[max(0, len(messages) - last_messages) :],
        retrievals=joined(ALL_RETRIEVALS, [row["retrievals"] for row in stored]),
    )


def state_from_row(
    row: Row, *, messages: Sequence[Message] = (), retrievals: Sequence[RetrievalRecord] = ()
) -> ConversationState:
    """A thread from the row of its open session, with these of its messages."""
    return ConversationState(
        session_id=UUID(row["session_id"]),
        session_number=row["number"],
        key=key_from_row(row),
        messages=(system_message(row), *messages),
        model=row["model"],
        turn_count=row["turn_count"],
        created_at=from_time(row["created_at"]),
        updated_at=from_time(row["updated_at"]),
        retrieval_history=tuple(retrievals),
        topic_summary=row["topic_summary"],
        metadata=from_json(METADATA, row["metadata"]),
        archived_at=maybe_time(row["archived_at"]),
    )


def with_messages(rows: Sequence[Row]) -> list[Row]:
    """These rows, but for the one that stands for a session without a turn."""
    return [row for row in rows if row["messages"] is not None]


def messages_from(rows: Sequence[Row]) -> list[Message]:
    """The messages of these turns."""
    return joined(ALL_MESSAGES, [row["messages"] for row in rows])


def system_message(row: Row) -> Message:
    """The first message: the agent says there what it is told; no table keeps it."""
    return Message.system("", at=from_time(row["created_at"]))
