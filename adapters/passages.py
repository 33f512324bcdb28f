"""Passages of the documents as they stand, found for a place without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_core.books.book import BookIds
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import AnswerTimedOut, NoBookChosen
from rag_core.retrieval.query import Filters, SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult

PASSAGES = 5
SECONDS = 2.0
"""Whoever asks a platform this way is answered within three seconds, or not at all."""


class Searches(Protocol):
    """Finds passages, as the retriever does."""

    async def search(self, query: SearchQuery) -> SearchResponse: ...


class ChoosesBooks(Protocol):
    """Knows which books a channel reads and what of them, as the library does."""

    async def books_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str
    ) -> BookIds | None: ...

    async def filters_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str
    ) -> Filters: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """Looks words up in the books of a channel."""

    searches: Searches
    library: ChoosesBooks

    async def of(
        self, text: str, *, platform: Platform, tenant: TenantId, channel_id: str
    ) -> Sequence[SearchResult]:
        """The best passages; an error of the house where nothing could be looked up."""
        try:
            async with asyncio.timeout(SECONDS):
                books = await self.library.books_for(
                    platform=platform, tenant=tenant, channel_id=channel_id
                )
                if books is None:
                    raise NoBookChosen
                filters = await self.library.filters_for(
                    platform=platform, tenant=tenant, channel_id=channel_id
                )
                query = SearchQuery(text=text, book_ids=books, limit=PASSAGES, filters=filters)
                return (await self.searches.search(query)).results
        except TimeoutError as error:
            raise AnswerTimedOut("The documents could not be searched in time.") from error
