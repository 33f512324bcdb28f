"""Which books a caller reads, and which it may not know of."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.web.documents.fields import MAX_NAME
from adapters.web.guarding.caller import Caller
from adapters.web.guarding.problems import Problem, not_found
from adapters.web.parts import ChoosesBooks, Searches
from rag_core.books.book import BookIds, checked_book_id
from rag_core.conversation.key import LOCAL_TENANT
from rag_core.errors import NoBookChosen
from rag_core.ports import BookStore
from rag_core.retrieval.query import EVERYTHING, Filters
from rag_core.retrieval.results import SearchResult


class Reading:
    """Turns the books that a request names into those that it reads."""

    def __init__(self, *, books: BookStore, library: ChoosesBooks) -> None:
        self._books = books
        self._library = library

    async def named(self, caller: Caller, names: Sequence[str] | None) -> BookIds | None:
        """The books named, else the key's own; None: neither, the default is read."""
        if names is not None:
            wanted = BookIds(names)
            for book_id in wanted:
                if not await self.may_read(caller, book_id):
                    raise no_such_book("book_ids")
            return wanted
        own = [book_id for book_id in caller.books if await self._books.get(book_id)]
        if caller.books and not own:
            raise no_such_book("book_ids")
        return BookIds(own) if own else None

    async def chosen(self, caller: Caller, names: Sequence[str] | None = None) -> BookIds:
        """The books named, the key's own or the default; never none."""
        books = await self.named(caller, names) or await self.default(caller)
        if books is None:
            raise NoBookChosen
        return books

    async def readable(self, caller: Caller) -> BookIds | None:
        """Every book that this caller may read; None: there is none."""
        if caller.every_book:
            ids = [book.book_id for book in await self._books.all()]
            return BookIds(ids) if ids else None
        if caller.books:
            return BookIds(caller.books)
        return await self.default(caller)

    async def default(self, caller: Caller) -> BookIds | None:
        return await self._library.books_for(
            platform=caller.platform, tenant=LOCAL_TENANT, channel_id=caller.owner
        )

    async def filters(self, caller: Caller, asked: Filters = EVERYTHING) -> Filters:
        """What of the books this caller is shown: what the policy of its place allows.

        Whoever keeps the documents looks at all of them by the private door."""
        if caller.private:
            return asked
        return await self._library.filters_for(
            platform=caller.platform,
            tenant=LOCAL_TENANT,
            channel_id=caller.owner,
            asked=asked,
        )

    async def lesson(
        self, searches: Searches, parent_doc_id: str, caller: Caller
    ) -> Sequence[SearchResult]:
        """A lesson as this caller may read it; a problem where there is none."""
        books = await self.readable(caller)
        if books is None or len(parent_doc_id) > MAX_NAME:
            raise not_found("lesson")
        filters = await self.filters(caller)
        chunks = await searches.lesson(parent_doc_id, books=books, filters=filters)
        if not chunks:
            raise not_found("lesson")
        return chunks

    async def may_read(self, caller: Caller, book_id: str) -> bool:
        """Whether the book is there for this caller."""
        if not await self.may_write(caller, book_id):
            return False
        return await self._books.get(book_id) is not None

    async def may_write(self, caller: Caller, book_id: str) -> bool:
        """Whether the book would be this caller's, there or not yet."""
        checked_book_id(book_id)
        if caller.every_book or book_id in caller.books:
            return True
        if caller.books:
            return False
        return book_id in (await self.default(caller) or ())


def no_such_book(field: str) -> Problem:
    sentence = f"{field}: there is no such book, or you may not read it."
    error = {"field": field, "message": sentence, "allowed": "the book_ids of /books"}
    return Problem(404, sentence, errors=[error])
