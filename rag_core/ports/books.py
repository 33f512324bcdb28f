"""Where books are kept, what is said of places, and where books come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rag_core.books.book import Book
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.books.source import BookSource


class BookStore(Protocol):
    """The books there are."""

    async def save(self, book: Book) -> None: ...

    async def get(self, book_id: str) -> Book | None: ...

    async def all(self) -> Sequence[Book]: ...

    async def remove(self, book_id: str) -> None: ...


class PolicyStore(Protocol):
    """What each place of a chat platform says for itself."""

    async def set(self, place: Place, policy: ChannelPolicy) -> None:
        """Replace what the place says; a policy that says nothing removes it.

        What was said of the same channel without its server or workspace goes, too."""
        ...

    async def get(self, place: Place) -> ChannelPolicy | None: ...

    async def around(self, place: Place, *, category_id: str = "") -> Sequence[ChannelPolicy]:
        """What is said for a channel, its category and its server, the narrowest first."""
        ...

    async def all(self) -> Mapping[Place, ChannelPolicy]: ...


class SourceStore(Protocol):
    """Where the books come from, and how the last readings went."""

    async def add(self, source: BookSource) -> bool:
        """False: the book has this location already, and nothing was changed."""
        ...

    async def get(self, source_id: UUID) -> BookSource | None: ...

    async def all(self) -> Sequence[BookSource]:
        """By book and location."""
        ...

    async def update(self, source: BookSource) -> None:
        """Replace a source that is still there, but not when it is read next."""
        ...

    async def claim(self, source: BookSource, *, then: datetime | None) -> bool:
        """Move a due source to its next time, if it has one; False: another process was first."""
        ...

    async def remove(self, source_id: UUID) -> bool: ...
