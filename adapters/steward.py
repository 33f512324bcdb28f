"""What admins may see and do from inside a chat platform, the same on every one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_core.agent.answer import Suggestion
from rag_core.books.book import Book
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.conversation.key import Platform, TenantId
from rag_core.ingestion.job import IngestionJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at: whether it is in place, and what to do if it is not."""

    name: str
    in_place: bool
    detail: str
    advice: str = ""
    is_warning: bool = False
    """In place, but the advice should be followed: no fault, and not nothing either."""

    @property
    def needs_attention(self) -> bool:
        return self.is_warning or not self.in_place


@dataclass(frozen=True, slots=True, kw_only=True)
class GapLine:
    """What was asked and not answered, in short."""

    example: str
    count: int
    nearest: Suggestion | None = None


class Steward(Protocol):
    """Keeps the house: books, jobs, policies, gaps, and what is missing."""

    async def books(self, place: Place, *, category_id: str = "") -> Sequence[Book]:
        """Those that may be read and named in this place."""
        ...

    async def modules(self, place: Place) -> Sequence[str]:
        """The modules of the book that this place reads."""
        ...

    async def jobs(self, place: Place, *, category_id: str = "") -> Sequence[IngestionJob]:
        """Of those books, the last started first; at most ten."""
        ...

    async def gaps(self, place: Place, *, category_id: str = "") -> Sequence[GapLine]:
        """What its server or workspace asked in vain, the most asked first; at most ten."""
        ...

    async def findings(self, place: Place, *, category_id: str = "") -> Sequence[Finding]:
        """What is in place and what is missing, for its platform and the house."""
        ...

    async def policy(self, place: Place, *, category_id: str = "") -> ChannelPolicy:
        """What holds there: the channel's own words, else the category's, else the server's."""
        ...

    async def own_policy(self, place: Place) -> ChannelPolicy:
        """What the place says itself; what wider places say is left out."""
        ...

    async def set_policy(self, place: Place, policy: ChannelPolicy) -> None:
        """Replace the place's own words. A book that is not there, or that may not be read in this
        place, is an InvalidQuestion."""
        ...

    async def forget(self, *, platform: Platform, tenant: TenantId, asker_id: str) -> None:
        """Remove a person with all that they asked here; gone within a minute."""
        ...
