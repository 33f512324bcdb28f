"""Passages of the documents as they stand, found without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict

from adapters.apologies import sentence_for
from adapters.discord.answering.links import place_link
from adapters.discord.answering.markdown import to_discord_markdown
from adapters.discord.hearing.channels import Spot
from adapters.discord.wording import escaped
from adapters.passages import Passages, Searches, reading_in
from adapters.section_titles import SectionTitles
from rag_core.books.book import BookIds
from rag_core.books.policy import ReaderProfile
from rag_core.books.rules import KnowsRules
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import FootnoteError
from rag_core.retrieval.query import MIN_TEXT, Filters
from rag_core.retrieval.results import SearchResult

MAX_EXCERPT = 200
MAX_CHOICES, MAX_CHOICE = 25, 100
LOOKUP_SECONDS = 20.0
CHOICE_SECONDS = 2.0
"""Choices are of use for three seconds, the way there and back included."""
NOTHING_FOUND = "The documents have no passage on this."
MAX_ANSWER = 1_900


class KnowsModules(Searches, Protocol):
    """Finds passages and knows the modules, as the retriever does."""

    async def modules(self, *, books: BookIds, filters: Filters) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """Looks passages, modules and titles up in the books of a channel, within its policy."""

    searches: KnowsModules
    library: KnowsRules
    titles: SectionTitles | None = None

    async def passages(self, text: str, spot: Spot, reader: ReaderProfile | None) -> str:
        """What was found, as one message; what went wrong, as one sentence."""
        passages = Passages(searches=self.searches, library=self.library, seconds=LOOKUP_SECONDS)
        try:
            return listed(await passages.of(text, reader=reader, **place_of(spot)))
        except FootnoteError as error:
            return to_discord_markdown(sentence_for(error))

    async def modules(self, typed: str, spot: Spot) -> Sequence[str]:
        """The modules that what was typed so far may become; none rather than too late."""
        try:
            async with asyncio.timeout(CHOICE_SECONDS):
                reading = await reading_in(self.library, **place_of(spot))
                known = await self.searches.modules(books=reading.books, filters=reading.filters)
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
                reading = await reading_in(self.library, reader=reader, **place_of(spot))
                found = await self.titles.near(
                    typed, books=reading.books, filters=reading.filters, limit=MAX_CHOICES
                )
        except (FootnoteError, TimeoutError):
            return []
        return [title for title in found if MIN_TEXT <= len(title) <= MAX_CHOICE]


class PlaceOf(TypedDict):
    """A spot, in the words of who looks up."""

    platform: Platform
    tenant: TenantId
    channel_id: str
    category_id: str


def place_of(spot: Spot) -> PlaceOf:
    return PlaceOf(
        platform=Platform.DISCORD,
        tenant=spot.tenant,
        channel_id=spot.reads,
        category_id=spot.category_id,
    )


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
