"""Threads: one open session each, with older sessions and archived messages behind it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import Select, bindparam, delete, select, update

from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.message import Message
from rag_core.conversation.state import LIVE_MESSAGES, ConversationState
from rag_core.storage import schema
from rag_core.storage.codec import (
    MESSAGES,
    METADATA,
    RETRIEVALS,
    from_json,
    from_time,
    maybe_time,
    to_time,
)
from rag_core.storage.engine import Database, Row, Transaction
from rag_core.storage.statement import Statement, insert_once, upsert
from rag_core.storage.threads import IDLE, KEY, has_key, key_from_row, key_to_row

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


def with_turns() -> Select[tuple[object, ...]]:
    """A thread's open session with its newest turns: one statement, so one moment in time."""
    return (
        select(*HEAD, turns.c.messages, turns.c.retrievals)
        .select_from(threads.join(sessions, OPEN_SESSION).outerjoin(turns))
        .order_by(turns.c.number.desc())
        .limit(bindparam("turns"))
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
    .limit(bindparam("limit"))
)
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
ARCHIVE = Statement(
    update(threads)
    .where(
        threads.c.archived_at.is_(None),
        threads.c.updated_at < bindparam("idle_since"),
        threads.c.waiting_since.is_(None),
    )
    .values(archived_at=bindparam("now"))
    .returning(threads.c.id)
)
DELETE = Statement(delete(threads).where(has_key()))


class Conversations:
    """Opens, lists, archives and deletes threads. Turns are added where answers are settled."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(
        self,
        key: ConversationKey,
        *,
        model: str,
        max_turns: int,
        session_id: UUID | None = None,
        last_messages: int = LIVE_MESSAGES,
    ) -> ConversationState:
        """The thread's open session; `last_messages` bounds how many of its messages are read."""
        state = await self._load(key, last_messages)
        if state and is_ready(state, model=model, max_turns=max_turns):
            return state

        async def body(transaction: Transaction) -> None:
            await prepare(transaction, key, model=model, max_turns=max_turns, wanted=session_id)

        await self._database.write(body)
        state = await self._load(key, last_messages)
        if state is None:  # deleted by somebody else at this very moment
            return await self.open(
                key,
                model=model,
                max_turns=max_turns,
                session_id=session_id,
                last_messages=last_messages,
            )
        return state

    async def find(
        self, session_id: UUID, *, last_messages: int = LIVE_MESSAGES
    ) -> ConversationState | None:
        rows = await self._database.rows(
            FIND, session_id=str(session_id), turns=turns_for(last_messages)
        )
        return state_from_rows(rows, last_messages) if rows else None

    async def history(self, session_id: UUID) -> Sequence[Message]:
        rows = await self._database.rows(HISTORY, session_id=str(session_id))
        if not rows:
            return ()
        return (system_message(rows[0]), *messages_from(rows))

    async def recent(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, limit: int
    ) -> Sequence[ConversationState]:
        rows = await self._database.rows(
            RECENT, platform=platform.value, tenant=tenant, channel_id=channel_id, limit=limit
        )
        return [state_from_rows([row], 0) for row in rows]

    async def archive_idle(self, *, idle_since: datetime) -> int:
        archived = await self._database.run(
            ARCHIVE, idle_since=to_time(idle_since), now=to_time(datetime.now(UTC))
        )
        return len(archived)

    async def delete(self, key: ConversationKey) -> None:
        """Everything that belongs to the thread goes with its row."""
        await self._database.run(DELETE, **key_to_row(key))
        await self._database.scrub()

    async def _load(self, key: ConversationKey, last_messages: int) -> ConversationState | None:
        rows = await self._database.rows(LOAD, **key_to_row(key), turns=turns_for(last_messages))
        return state_from_rows(rows, last_messages) if rows else None


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
        await add_session(transaction, thread, model=model, now=now, after=found[0])
    elif found[0]["model"] != model:
        await transaction.rows(SET_MODEL, session=found[0]["id"], new_model=model)


async def add_session(
    transaction: Transaction,
    thread: int,
    *,
    model: str,
    now: str,
    wanted: UUID | None = None,
    after: Row | None = None,
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
            topic_summary=after["topic_summary"] if after else "",
            metadata=after["metadata"] if after else "{}",
            created_at=now,
            closed_at=None,
        )
        if added:
            return


def turns_for(messages: int) -> int:
    """How many turns hold this many messages, at the most."""
    return max(1, -(-messages // SHORTEST_TURN))


def state_from_rows(rows: Sequence[Row], last_messages: int) -> ConversationState:
    """A thread from the row of its session, repeated for each turn, the newest first."""
    head = rows[0]
    live = messages_from(rows[::-1])[-last_messages:] if last_messages else []
    recalled = (
        [row["retrievals"] for row in rows[::-1] if row["retrievals"]] if last_messages else []
    )
    return ConversationState(
        session_id=UUID(head["session_id"]),
        session_number=head["number"],
        key=key_from_row(head),
        messages=(system_message(head), *live),
        model=head["model"],
        turn_count=head["turn_count"],
        created_at=from_time(head["created_at"]),
        updated_at=from_time(head["updated_at"]),
        retrieval_history=tuple(r for text in recalled for r in from_json(RETRIEVALS, text)),
        topic_summary=head["topic_summary"],
        metadata=from_json(METADATA, head["metadata"]),
        archived_at=maybe_time(head["archived_at"]),
    )


def messages_from(rows: Sequence[Row]) -> list[Message]:
    """The messages of these turns; a session without a turn is one row without messages."""
    return [
        message
        for row in rows
        if row["messages"] is not None
        for message in from_json(MESSAGES, row["messages"])
    ]


def system_message(row: Row) -> Message:
    """The first message: the agent says there what it is told; no table keeps it."""
    return Message.system("", at=from_time(row["created_at"]))
