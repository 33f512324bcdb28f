"""Threads: one open session each, with older sessions and archived messages behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import bindparam, delete, select, update

from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.message import Message
from rag_core.conversation.state import (
    LIVE_MESSAGES,
    MAX_TOPIC_SUMMARY,
    SUMMARISED,
    ConversationState,
)
from rag_core.storage import schema
from rag_core.storage.conversations.sessions import is_ready, prepare
from rag_core.storage.conversations.states import (
    CARRIED,
    FIND,
    HISTORY,
    LOAD,
    READ,
    RECENT,
    messages_from,
    state_from_row,
    state_from_rows,
    system_message,
    turns_for,
    with_messages,
)
from rag_core.storage.conversations.threads import has_key, key_to_row
from rag_core.storage.engines.codec import merged, to_time
from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement
from rag_core.storage.ledger.forgotten import remember_forgotten
from rag_core.storage.messages import identity_from_row

threads, sessions, questions = schema.threads, schema.sessions, schema.questions
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
MESSAGES_OF = Statement(
    select(questions.c.platform, questions.c.tenant, questions.c.channel_id, questions.c.message_id)
    .select_from(questions.join(threads))
    .where(has_key())
)
SUMMARY_OF = Statement(
    select(
        sessions.c.id, sessions.c.topic_summary, sessions.c.metadata, sessions.c.turn_count
    ).where(sessions.c.session_id == bindparam("session_id"))
)
SET_SUMMARY = Statement(
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values(topic_summary=bindparam("summary"), metadata=bindparam("merged"))
)
UNMARK = Statement(delete(schema.markers).where(schema.markers.c.name == bindparam("name")))


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

        await self._database.write(body, lasting=False)  # it lasts with its first answer
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
        return await self._state(rows, last_messages)

    async def read(
        self, session_id: UUID, *, last_messages: int = LIVE_MESSAGES
    ) -> ConversationState | None:
        """This very session, also where the thread has gone on in another one."""
        rows = await self._database.rows(
            READ, session_id=str(session_id), turns=turns_for(last_messages)
        )
        return await self._state(rows, last_messages)

    async def summarise(self, session_id: UUID, *, instead_of: str, summary: str) -> bool:
        """Put a summary in the place of another one; False where that one is there no more, since
        what it was made of may have been changed or taken back."""

        async def body(transaction: Transaction) -> bool:
            found = await transaction.rows(SUMMARY_OF, session_id=str(session_id))
            if not found or not instead_of or found[0]["topic_summary"] != instead_of:
                return False
            row = found[0]
            await transaction.rows(
                SET_SUMMARY,
                session=row["id"],
                summary=summary[:MAX_TOPIC_SUMMARY],
                merged=merged(row["metadata"], {SUMMARISED: row["turn_count"]}),
            )
            return True

        return await self._database.write(body)

    async def history(self, session_id: UUID) -> Sequence[Message]:
        rows = await self._database.rows(HISTORY, session_id=str(session_id))
        if not rows:
            return ()
        return (system_message(rows[0]), *messages_from(with_messages(rows)))

    async def recent(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, limit: int
    ) -> Sequence[ConversationState]:
        rows = await self._database.rows(
            RECENT, platform=platform.value, tenant=tenant, channel_id=channel_id, limit=limit
        )
        return [state_from_row(row) for row in rows]

    async def archive_idle(self, *, idle_since: datetime) -> int:
        archived = await self._database.run(
            ARCHIVE, idle_since=to_time(idle_since), now=to_time(datetime.now(UTC))
        )
        return len(archived)

    async def delete(self, key: ConversationKey) -> None:
        """Everything that belongs to the thread goes with its row; repeats of its messages are
        known by keyed hashes, which tell nobody what they are of."""

        async def body(transaction: Transaction) -> None:
            found = await transaction.rows(MESSAGES_OF, **key_to_row(key))
            if found:
                await remember_forgotten(transaction, map(identity_from_row, found))
            await transaction.rows(DELETE, **key_to_row(key))
            await transaction.rows(UNMARK, name=f"answered:{key}")

        await self._database.write(body)
        # Also where there was no such row: somebody may come back because this failed before.
        await self._database.scrub()

    async def _load(self, key: ConversationKey, last_messages: int) -> ConversationState | None:
        rows = await self._database.rows(LOAD, **key_to_row(key), turns=turns_for(last_messages))
        return await self._state(rows, last_messages)

    async def _state(self, rows: Sequence[Row], last_messages: int) -> ConversationState | None:
        """A session, and with one that follows another what it goes on from."""
        if not rows:
            return None
        state = state_from_rows(rows, last_messages)
        if state.session_number == 1:
            return state
        carried = await self._database.rows(CARRIED, session_id=str(state.session_id))
        return replace(state, carried=tuple(messages_from(carried[::-1])))
