"""Passages of the documents as they stand, found without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from adapters.apologies import sentence_for
from adapters.discord.channels import Spot
from adapters.discord.links import place_link
from adapters.discord.wording import escaped
from adapters.section_titles import SectionTitles
from rag_core.books.book import BookIds
from rag_core.books.bounds import bounded
from rag_core.books.policy import ChannelPolicy, ReaderProfile
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import AnswerTimedOut, FootnoteError, NoBookChosen
from rag_core.retrieval.query import MIN_TEXT, Filters, SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult

PASSAGES = 5
MAX_EXCERPT = 200
MAX_CHOICES, MAX_CHOICE = 25, 100
LOOKUP_SECONDS = 20.0
CHOICE_SECONDS = 2.0
"""Choices are of use for three seconds, the way there and back included."""
NOTHING_FOUND = "The documents have no passage on this."
MAX_ANSWER = 1_900


class Searches(Protocol):
    """Finds passages and knows the modules, as the retriever does."""

    async def search(self, query: SearchQuery) -> SearchResponse: ...

    async def modules(self, *, books: BookIds) -> Sequence[str]: ...


class KnowsRules(Protocol):
    """Knows which books a channel reads and what holds there, as the library does."""

    async def policy_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> ChannelPolicy: ...

    async def books_under(self, policy: ChannelPolicy) -> BookIds | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """Looks passages, modules and titles up in the books of a channel, within its policy."""

    searches: Searches
    library: KnowsRules
    titles: SectionTitles | None = None

    async def passages(self, text: str, spot: Spot, reader: ReaderProfile | None) -> str:
        """What was found, as one message; what went wrong, as one sentence."""
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                books, filters, _ = await self._within(spot, reader)
                query = SearchQuery(text=text, book_ids=books, limit=PASSAGES, filters=filters)
                found = await self.searches.search(query)
        except FootnoteError as error:
            return sentence_for(error)
        except TimeoutError:
            return sentence_for(AnswerTimedOut())
        return listed(found.results)

    async def modules(self, typed: str, spot: Spot) -> Sequence[str]:
        """The modules that what was typed so far may become; none rather than too late."""
        try:
            async with asyncio.timeout(CHOICE_SECONDS):
                books, _, policy = await self._within(spot, None)
                known = policy.modules or await self.searches.modules(books=books)
        except (FootnoteError, TimeoutError):
            return []
        near = [name for name in known if typed.casefold().strip() in name.casefold()]
        return [name for name in near if len(name) <= MAX_CHOICE][:MAX_CHOICES]

    async def section_titles(
        self, typed: str, spot: Spot, reader: ReaderProfile | None
    ) -> Sequence[str]:
        """The section titles that hold what was typed; none rather than too late."""
        if self.titles is None:
            return []
        try:
            async with asyncio.timeout(CHOICE_SECONDS):
                books, filters, _ = await self._within(spot, reader)
                found = await self.titles.near(
                    typed, books=books, filters=filters, limit=MAX_CHOICES
                )
        except (FootnoteError, TimeoutError):
            return []
        return [title for title in found if MIN_TEXT <= len(title) <= MAX_CHOICE]

    async def _within(
        self, spot: Spot, reader: ReaderProfile | None
    ) -> tuple[BookIds, Filters, ChannelPolicy]:
        """What may be looked for there, and what may be found."""
        policy = await self.library.policy_for(
            platform=Platform.DISCORD,
            tenant=spot.tenant,
            channel_id=spot.reads,
            category_id=spot.category_id,
        )
        books = await self.library.books_under(policy)
        if books is None:
            raise NoBookChosen
        return books, bounded(Filters(), policy, reader=reader, at=datetime.now(UTC)), policy


def listed(results: Sequence[SearchResult]) -> str:
    """Passages with their links, best first, as many as one message holds."""
    shown = ""
    for result in results:
        head = f"{result.rank}. {place(result)}\n"
        for block in (f"{head}> {excerpt(result.text)}\n", head):
            if len(shown) + len(block) <= MAX_ANSWER:
                shown += block
                break
    return shown.rstrip() or NOTHING_FOUND


def place(result: SearchResult) -> str:
    return place_link(
        result.page_title, result.section_heading, result.page_url, file=result.source_file
    )


def excerpt(text: str) -> str:
    line = " ".join(text.split())
    whole = len(line) <= MAX_EXCERPT
    return escaped(line if whole else line[: MAX_EXCERPT - 1].rsplit(" ", 1)[0] + "…")
