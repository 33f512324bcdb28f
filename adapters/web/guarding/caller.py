"""Who is asking at the web door, and what that lets them do."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from adapters.web.config import Scope
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.conversation.key import LOCAL_TENANT, ConversationKey, Platform
from rag_core.conversation.state import ConversationState


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """One who may come in: threads belong to `owner`, and nobody else sees them."""

    owner: str
    scope: Scope
    platform: Platform = Platform.WEB
    every_book: bool = False
    """Whether any book may be read by its name."""
    books: tuple[str, ...] = ()
    """The books of a key; empty: the default book, or all of them where `every_book`."""
    rate_key: str | None = None
    """What requests are counted by; None is without a limit."""
    csrf_token: str = ""
    """Asked back from a browser that comes with a session cookie."""
    private: bool = False
    """Whether the caller came by the private door: bound like the command line, not like HTTP."""

    @property
    def own_books(self) -> BookIds | None:
        """The books that an admin looks after; None: the whole house."""
        return BookIds(self.books) if self.books else None

    @property
    def audience(self) -> Audience:
        """Callers find what the operator wrote down, or shared with the page."""
        return Audience(platform=self.platform)

    def key(self, thread: UUID | str) -> ConversationKey:
        """The caller's own thread that began with this session."""
        return ConversationKey(
            platform=self.platform,
            tenant=LOCAL_TENANT,
            channel_id=self.owner,
            thread_id=str(thread),
        )

    def owns(self, key: ConversationKey) -> bool:
        return (key.platform, key.tenant, key.channel_id) == (
            self.platform,
            LOCAL_TENANT,
            self.owner,
        )

    def owns_thread(self, state: ConversationState) -> bool:
        return self.owns(state.key)


LOCAL_OWNER = "loopback"
"""Owns the threads of this computer: every browser that signed in with the local key."""
LOCAL = Caller(owner=LOCAL_OWNER, scope=Scope.ADMIN, every_book=True)
"""Whoever uses this computer and shows the local key, or needs none."""

PRIVATE = Caller(
    owner="terminal",
    scope=Scope.ADMIN,
    platform=Platform.CLI,
    every_book=True,
    private=True,
)
"""Whoever reaches the private socket: its file rights have let them in."""
