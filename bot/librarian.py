"""What the owner of a data folder changes about books, bindings and sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

from rag_core.books.book import Book, checked_book_id
from rag_core.books.library import Library
from rag_core.books.policy import Place
from rag_core.books.source import BookSource, span_of
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import InvalidQuestion
from rag_core.ingestion.gathering import is_address
from rag_core.ingestion.pipeline import Ingestion, IngestionRequest
from rag_core.ingestion.timetable import Timetable
from rag_core.ports import BookStore, SourceStore
from rag_core.websites.address import AddressRefused, parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Librarian:
    """Binds places to books, removes books, and says where books are read from."""

    books: BookStore
    sources: SourceStore
    library: Library
    ingestion: Ingestion
    timetable: Timetable

    async def bind(
        self, *, platform: Platform, channel_id: str, book_ids: Sequence[str], tenant: str | None
    ) -> Sequence[Place]:
        return await self.library.bind(
            platform=platform,
            channel_id=channel_id,
            book_ids=book_ids,
            tenant=None if tenant is None else TenantId(tenant),
        )

    async def remove_book(self, book_id: str) -> Book:
        book = await self.books.get(checked_book_id(book_id))
        if book is None:
            known = ", ".join(book.book_id for book in await self.books.all()) or "none"
            raise InvalidQuestion(
                "book_id", f"There is no book {book_id!r}. Books: {known}.", allowed=known
            )
        await self.ingestion.remove_book(book_id)
        return book

    async def add_source(
        self, *, book_id: str, location: str, every: str, base_url: str, site: str
    ) -> BookSource:
        """Remember a source; it is due at once."""
        IngestionRequest(book_id=book_id, sources=(location,), base_url=base_url, site=site)
        if is_address(location):
            check_address(location)
        now = datetime.now(UTC)
        source = BookSource(
            source_id=uuid4(),
            book_id=book_id,
            location=location,
            base_url=base_url,
            site=site,
            every=span_of(every) if every else None,
            added_at=now,
            next_at=now,
        )
        if not await self.sources.add(source):
            raise InvalidQuestion("location", f"The book {book_id} has {location} already.")
        self.timetable.ring()
        return source

    async def remove_source(self, source_id: UUID) -> BookSource:
        """Read it no more; what was read from it stays in its book."""
        source = await self.sources.get(source_id)
        if source is None or not await self.sources.remove(source_id):
            raise InvalidQuestion("source_id", f"There is no source {source_id}.")
        return source


def check_address(location: str) -> None:
    try:
        parsed(location)
    except AddressRefused as refused:
        raise InvalidQuestion("location", f"{location} is not fetched: {refused}.") from refused
