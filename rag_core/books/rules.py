"""Who knows what holds in a place, and which books are read there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rag_core.books.book import BookIds
from rag_core.books.policy import ChannelPolicy
from rag_core.conversation.key import Platform, TenantId


class KnowsPolicies(Protocol):
    """What holds in a channel, as the library knows it."""

    async def policy_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> ChannelPolicy: ...


class KnowsRules(KnowsPolicies, Protocol):
    """What holds there, and what may be read under it."""

    async def books_under(self, policy: ChannelPolicy) -> BookIds | None:
        """None: no book was chosen, or none is there."""
        ...

    def chosen_under(self, policy: ChannelPolicy) -> Sequence[str]:
        """The books that somebody chose for such a place, there or not."""
        ...
