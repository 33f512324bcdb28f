"""Passages of the documents as they stand, found for a place without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.books.bounds import bounded
from rag_core.books.policy import ChannelPolicy, ReaderProfile
from rag_core.books.rules import KnowsRules
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import AnswerTimedOut, NoBookChosen
from rag_core.retrieval.query import Filters, SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult

PASSAGES = 5


class Searches(Protocol):
    """Finds passages, as the retriever does."""

    async def search(self, query: SearchQuery) -> SearchResponse: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What may be looked for in one place, and what may be found."""

    books: BookIds
    audience: Audience
    filters: Filters
    policy: ChannelPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """Looks words up in the books of a channel, within its policy."""

    searches: Searches
    library: KnowsRules
    seconds: float
    """How long who asks can wait."""

    async def of(
        self,
        text: str,
        *,
        platform: Platform,
        tenant: TenantId,
        channel_id: str,
        category_id: str = "",
        reader: ReaderProfile | None = None,
    ) -> Sequence[SearchResult]:
        """The best passages; an error of the house where nothing could be looked up."""
        try:
            async with asyncio.timeout(self.seconds):
                reading = await reading_in(
                    self.library,
                    platform=platform,
                    tenant=tenant,
                    channel_id=channel_id,
                    category_id=category_id,
                    reader=reader,
                )
                query = SearchQuery(
                    text=text,
                    book_ids=reading.books,
                    audience=reading.audience,
                    limit=PASSAGES,
                    filters=reading.filters,
                )
                return (await self.searches.search(query)).results
        except TimeoutError as error:
            raise AnswerTimedOut("The documents could not be searched in time.") from error


async def reading_in(
    library: KnowsRules,
    *,
    platform: Platform,
    tenant: TenantId,
    channel_id: str,
    category_id: str = "",
    reader: ReaderProfile | None = None,
) -> Reading:
    """NoBookChosen where nothing says what is read there."""
    rules = await library.rules_for(
        platform=platform, tenant=tenant, channel_id=channel_id, category_id=category_id
    )
    if rules.books is None:
        raise NoBookChosen(rules.missing)
    filters = bounded(Filters(), rules.policy, reader=reader, at=datetime.now(UTC))
    return Reading(books=rules.books, audience=rules.audience, filters=filters, policy=rules.policy)
