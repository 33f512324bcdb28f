"""Which books a channel reads."""

from __future__ import annotations

from rag_core.books.book import BookIds
from rag_core.conversation.key import Platform, TenantId
from rag_core.ports import BookStore


class Library:
    """Knows for each channel the books that its questions may be answered from."""

    def __init__(self, *, books: BookStore, default_book: str | None) -> None:
        self._books = books
        self._default_book = default_book

    async def books_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str
    ) -> BookIds | None:
        """The channel's own book, else the default one; None: none was chosen or none is there.

        A channel bound to a book that was removed reads nothing rather than another book."""
        bound = await self._books.bound_to(platform=platform, tenant=tenant, channel_id=channel_id)
        if bound is not None:
            return BookIds([bound]) if await self._books.get(bound) else None
        return await self.default()

    async def default(self) -> BookIds | None:
        """The book that is read everywhere: the one in the settings, or the only one there is."""
        if self._default_book is not None:
            there = await self._books.get(self._default_book)
            return BookIds([self._default_book]) if there else None
        books = await self._books.all()
        return BookIds([books[0].book_id]) if len(books) == 1 else None
