"""For whom a search is made: it decides which staff answers may be found."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_core.conversation.key import LOCAL_TENANT, Platform, TenantId

CHATS = frozenset({Platform.DISCORD, Platform.SLACK})
"""Where admins of a server or workspace act, who need not be the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Everybody in one server or workspace, or whoever asks on the page or in the terminal."""

    platform: Platform
    tenant: TenantId = LOCAL_TENANT
    bound_books: frozenset[str] = field(default_factory=frozenset)
    """Books that the operator bound to the place that the search comes from."""

    @property
    def name(self) -> str:
        """How the operator names it where an answer is shared."""
        return f"{self.platform}:{self.tenant}" if self.platform in CHATS else "web"
