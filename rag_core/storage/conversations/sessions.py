"""Which session a thread goes on in: its first, the one that is open, or a fresh one."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import bindparam, select, update

from rag_core.conversation.key import ConversationKey
from rag_core.conversation.state import ConversationState
from rag_core.conversation.summary import questions_in, summary_of
from rag_core.storage import schema
from rag_core.storage.conversations.threads import IDLE, KEY, key_to_row
from rag_core.storage.engines.codec import ALL_MESSAGES, joined, to_time
from rag_core.storage.engines.engine import Row, Transaction
from rag_core.storage.engines.statement import Statement, insert_once, upsert

threads, sessions = schema.threads, schema.sessions

SUMMARISED = 10
"""So many questions are looked at to say what a session was about."""

RESUME = upsert(
    threads,
    on=KEY,
    change=lambda new: {"updated_at": new.updated_at, "archived_at": None},
    without=("id",),
    returning="id",
)
LAST_SESSION = Statement(
    select(sessions)
    .where(sessions.c.thread == bindparam("thread"), sessions.c.closed_at.is_(None))
    .limit(1)
)
ADD_SESSION = insert_once(sessions, without=("id",), returning="id")
LAST_TURNS = Statement(
    select(schema.turns.c.messages)
    .where(schema.turns.c.session == bindparam("session"))
    .order_by(schema.turns.c.number.desc())
    .limit(SUMMARISED)
)
CLOSE_SESSION = Statement(
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values(closed_at=bindparam("closed_at"))
)
SET_MODEL = Statement(
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values(model=bindparam("new_model"))
)


def is_ready(state: ConversationState, *, model: str, max_turns: int) -> bool:
    """Whether a thread can go on as it is."""
    return state.archived_at is None and state.model == model and state.turn_count < max_turns


async def prepare(
    transaction: Transaction,
    key: ConversationKey,
    *,
    model: str,
    max_turns: int,
    wanted: UUID | None,
) -> None:
    """Bring a thread to where it can go on: made, resumed, or with a fresh session."""
    now = to_time(datetime.now(UTC))
    made = await transaction.rows(RESUME, **key_to_row(key), **IDLE | {"updated_at": now})
    thread = made[0]["id"]
    found = await transaction.rows(LAST_SESSION, thread=thread)
    if not found:
        await add_session(transaction, thread, model=model, now=now, wanted=wanted)
    elif found[0]["turn_count"] >= max_turns:
        await transaction.rows(CLOSE_SESSION, session=found[0]["id"], closed_at=now)
        summary = found[0]["topic_summary"] or await summary_in(transaction, found[0]["id"])
        await add_session(
            transaction, thread, model=model, now=now, after=found[0], summary=summary
        )
    elif found[0]["model"] != model:
        await transaction.rows(SET_MODEL, session=found[0]["id"], new_model=model)


async def summary_in(transaction: Transaction, session: int) -> str:
    """What a session was about, where it ended before that was written down."""
    rows = await transaction.rows(LAST_TURNS, session=session)
    return summary_of(questions_in(joined(ALL_MESSAGES, [row["messages"] for row in rows][::-1])))


async def add_session(
    transaction: Transaction,
    thread: int,
    *,
    model: str,
    now: str,
    wanted: UUID | None = None,
    after: Row | None = None,
    summary: str = "",
) -> None:
    """A session under the id that was asked for, or under a new one where that is taken."""
    for session_id in (wanted, uuid4()):
        if session_id is None:
            continue
        added = await transaction.rows(
            ADD_SESSION,
            thread=thread,
            session_id=str(session_id),
            number=after["number"] + 1 if after else 1,
            model=model,
            turn_count=0,
            topic_summary=summary,
            metadata=after["metadata"] if after else "{}",
            created_at=now,
            closed_at=None,
        )
        if added:
            return
