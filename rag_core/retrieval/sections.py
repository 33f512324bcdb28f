"""Searches for evidence: whole sections, each with the chunk that was found in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Protocol

from rag_core.books.book import BookIds
from rag_core.ports import Vector
from rag_core.retrieval.likeness import cosine
from rag_core.retrieval.pages import CRUMB, Page, Section, Span
from rag_core.retrieval.query import MAX_LIMIT, Filters, SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult, SectionPart

WIDER = 3
"""How many chunks are found for each section: some of them lie in the same one."""
SPARE = 2
"""Headings that are looked at beyond the sections asked for: the more, the more pages are read."""
BEST = 3
"""Of the chunks found; where these lie close to each other, their sections are one."""


class Direction(StrEnum):
    """On which side of a section to read on."""

    BEFORE = "before"
    AFTER = "after"


class FindsChunks(Protocol):
    """What sections are made from: a retriever."""

    async def search(
        self, query: SearchQuery, *, earlier: Sequence[str] = ()
    ) -> SearchResponse: ...

    async def lessons(
        self, parent_doc_ids: Collection[str], *, books: BookIds, filters: Filters
    ) -> Sequence[SearchResult]: ...

    async def embed_query(self, text: str) -> Vector: ...


class SectionSearch:
    """Finds sections where a retriever finds chunks; the same books and filters hold for all that
    comes with a chunk."""

    def __init__(self, retriever: FindsChunks) -> None:
        self._retriever = retriever

    async def search(self, query: SearchQuery, *, earlier: Sequence[str] = ()) -> SearchResponse:
        """Sections, best first, each by the best of its chunks."""
        wide = replace(query, limit=min(MAX_LIMIT, query.limit * WIDER))
        found = await self._retriever.search(wide, earlier=earlier)
        first = with_headings(found.results, query.limit + SPARE)
        sections = await self._sections(first, query)
        if len(sections) < query.limit and len(first) < len(found.results):
            sections = await self._sections(found.results, query)
        return replace(found, query=query, results=ranked(sections[: query.limit]))

    async def beside(
        self,
        result: SearchResult,
        direction: Direction,
        *,
        books: BookIds,
        filters: Filters,
        query: str = "",
    ) -> SearchResult | None:
        """The section before or after this one on its page; None at the end of the page. With a
        query, its similarity is to that."""
        pages = await self._pages([result], books=books, filters=filters)
        page = pages.get(result.parent_doc_id)
        ends = result.chunk_ids[0 if direction is Direction.BEFORE else -1]
        at = page.place_of(ends) if page else None
        if page is None or at is None:
            return None
        is_after = direction is Direction.AFTER
        place = at + 1 if is_after else at - 1
        if not 0 <= place < len(page.chunks):
            return None
        bounds = Span(place, len(page.chunks)) if is_after else Span(0, at)
        found = page.chunks[place]
        if query:
            near = cosine(await self._retriever.embed_query(query), found.vector)
            found = replace(found, similarity_score=near, rank_score=near)
        return as_result(found, page, page.section(place, within=bounds))

    async def _sections(
        self, found: Sequence[SearchResult], query: SearchQuery
    ) -> Sequence[SearchResult]:
        pages = await self._pages(found, books=query.book_ids, filters=query.filters)
        return sections_of(found, pages)

    async def _pages(
        self, results: Sequence[SearchResult], *, books: BookIds, filters: Filters
    ) -> Mapping[str, Page]:
        """The pages of these chunks, as far as a search with these filters may find them."""
        ids = dict.fromkeys(each.parent_doc_id for each in results if each.parent_doc_id)
        if not ids:
            return {}
        by_page: dict[str, list[SearchResult]] = defaultdict(list)
        for chunk in await self._retriever.lessons(list(ids), books=books, filters=filters):
            by_page[chunk.parent_doc_id].append(chunk)
        return {parent: Page(chunks) for parent, chunks in by_page.items()}


def with_headings(found: Sequence[SearchResult], count: int) -> Sequence[SearchResult]:
    """The first of these chunks, as many as it takes for so many different headings."""
    headings: set[tuple[str, str]] = set()
    for number, chunk in enumerate(found):
        headings.add((chunk.parent_doc_id or chunk.chunk_id, chunk.breadcrumb))
        if len(headings) > count:
            return found[:number]
    return found


def sections_of(found: Sequence[SearchResult], pages: Mapping[str, Page]) -> list[SearchResult]:
    """The sections that these chunks lie in, each once; no chunk is part of two of them."""
    best = {each.chunk_id for each in found[:BEST]}
    taken: dict[str, set[int]] = defaultdict(set)
    sections: list[SearchResult] = []
    for chunk in found:
        page = pages.get(chunk.parent_doc_id)
        place = page.place_of(chunk.chunk_id) if page else None
        if page is None or place is None:
            sections.append(chunk)
            continue
        used = taken[chunk.parent_doc_id]
        if place in used:
            continue
        others = [at for each in best if (at := page.place_of(each)) is not None]
        section = page.section(place, within=free(page, place, used), found=sorted(others))
        used.update(range(*section.span))
        sections.append(as_result(chunk, page, section))
    return sections


def free(page: Page, place: int, used: Collection[int]) -> Span:
    """What of a page around a chunk is in no other section yet."""
    first = max((at + 1 for at in used if at < place), default=0)
    end = min((at for at in used if at > place), default=len(page.chunks))
    return Span(first, end)


def as_result(found: SearchResult, page: Page, section: Section) -> SearchResult:
    """The chunk that was found with its whole section."""
    text = ""
    parts: list[SectionPart] = []
    for place, (joint, piece) in zip(range(*section.span), page.pieces(section), strict=True):
        text += joint
        chunk = page.chunks[place]
        parts.append(
            SectionPart(
                chunk_id=chunk.chunk_id,
                content_hash=chunk.content_hash,
                page_url=chunk.page_url,
                section_heading=chunk.section_heading,
                start=len(text),
            )
        )
        text += piece
    own = section.trail == page.trails[page.place_of(found.chunk_id) or 0]
    heading = section.trail[-1] if len(section.trail) > 1 else ""
    return replace(
        found,
        text=text,
        section_heading=found.section_heading if own else heading,
        breadcrumb=CRUMB.join(section.trail),
        parts=tuple(parts),
        left_out_before=page.words_in(Span(section.whole.first, section.span.first)),
        left_out_after=page.words_in(Span(section.span.end, section.whole.end)),
        heading_before=page.heading_at(section.span.first - 1),
        heading_after=page.heading_at(section.span.end),
    )


def ranked(sections: Sequence[SearchResult]) -> tuple[SearchResult, ...]:
    return tuple(replace(each, rank=rank) for rank, each in enumerate(sections, start=1))
