"""Where threads are kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.message import Message
from rag_core.conversation.state import ConversationState


class ConversationStore(Protocol):
    """Keeps threads: one open session each, older sessions and archived messages behind it."""

    async def open(
        self, key: ConversationKey, *, model: str, max_turns: int, session_id: UUID | None = None
    ) -> ConversationState:
        """The thread's open session, made if need be, resumed if it was archived.

        A session that has had its turns is closed; a fresh one carries its topic summary and its
        last turns.
        `session_id` names a first session that nobody has yet."""
        ...

    async def find(self, session_id: UUID) -> ConversationState | None:
        """The open session of the thread that this session, open or closed, belongs to."""
        ...

    async def read(self, session_id: UUID) -> ConversationState | None:
        """This very session with its live messages, open or closed."""
        ...

    async def summarise(self, session_id: UUID, *, instead_of: str, summary: str) -> bool:
        """Put a topic summary in the place of this one; False where it is there no more."""
        ...

    async def history(self, session_id: UUID) -> Sequence[Message]:
        """Every message of one session, archived ones included, in order."""
        ...

    async def recent(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, limit: int
    ) -> Sequence[ConversationState]:
        """Open sessions of one channel, the last used first; their messages are left out."""
        ...

    async def archive_idle(self, *, idle_since: datetime) -> int:
        """Archive the threads without a word since then; how many there were."""
        ...

    async def delete(self, key: ConversationKey) -> None:
        """Remove a thread with all that was stored for it."""
        ...
