"""Where small facts are kept: ratings, markers, and what must be forgotten."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol
from uuid import UUID

from rag_core.conversation.key import Platform, TenantId


class FeedbackStore(Protocol):
    """What askers thought of their answers; one rating an asker and answer."""

    async def rated(self, *, answer_id: UUID, asker_id: str) -> bool | None:
        """Whether the asker found it helpful; None: no rating."""
        ...

    async def rate(
        self, *, answer_id: UUID, asker_id: str, helpful: bool, reason: str = ""
    ) -> None: ...


class TicketStore(Protocol):
    """What was used that may be used only once."""

    async def use_once(self, ticket: str, *, until: datetime) -> bool:
        """Whether nobody has used this ticket before; it is remembered until then."""
        ...

    async def used(self) -> int:
        """How many tickets are remembered."""
        ...


class MarkerStore(Protocol):
    """Small facts that must survive a restart: high-water marks, gateway sessions, hashes.

    Where a fact is about a person, an answer, or a message or thread in a channel, the name of its
    marker ends with that id (`reader:platform:tenant:person`, `…:answer`, `…:channel:message`): so
    it goes when they are forgotten."""

    async def get(self, name: str) -> str | None: ...

    async def set(self, name: str, value: str) -> None: ...


class ForgettingStore(Protocol):
    """Forgets; when a call returns, the words are gone from the disk too."""

    async def person(self, *, platform: Platform, asker_id: str) -> int:
        """Everything that one person asked, with the answers; how many questions that were."""
        ...

    async def tenant(self, *, platform: Platform, tenant: TenantId) -> int:
        """A whole server or workspace."""
        ...

    async def older_than(self, moment: datetime) -> int:
        """Ended questions that were accepted before then."""
        ...
