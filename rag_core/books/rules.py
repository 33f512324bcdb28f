"""What holds in one place, as far as answers, look-ups and kept answers need to know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.books.policy import ChannelPolicy
from rag_core.conversation.key import Platform, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The policy of a place, the books that are read there, and for whom a search there is."""

    policy: ChannelPolicy
    """Names no book that is closed to the place."""
    books: BookIds | None
    """None: no book was chosen, or none of those is there."""
    audience: Audience
    missing: tuple[str, ...] = ()
    """Books that were chosen and are not there."""


class KnowsPolicies(Protocol):
    """What holds in a channel, as the library knows it."""

    async def policy_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> ChannelPolicy: ...


class KnowsRules(KnowsPolicies, Protocol):
    """What holds there, and what may be read under it."""

    async def rules_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> Rules: ...
