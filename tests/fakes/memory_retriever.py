"""A retriever over a few passages in memory: near is what shares many words."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rag_core.agent.language.words import content
from rag_core.books.book import BookIds
from rag_core.errors import InvalidQuestion
from rag_core.retrieval.query import Filters, SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult
from rag_core.retrieval.sections import Direction


def passage(
    text: str,
    *,
    title: str = "Handbook",
    heading: str = "Limits",
    url: str | None = "https://docs.example.com/handbook#limits",
    book: str = "handbook",
    module: str | None = None,
) -> SearchResult:
    """A passage with sensible defaults."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return SearchResult(
        text=text,
        chunk_id=f"chunk-{digest[:8]}",
        similarity_score=0.0,
        rank=1,
        rank_score=0.0,
        book_id=book,
        source_file=f"{title.lower()}.md",
        content_hash=digest,
        parent_doc_id=f"{book}:{title}",
        chunk_index=0,
        total_chunks=1,
        page_title=title,
        section_heading=heading,
        page_url=url,
        module=module,
    )


@dataclass
class MemoryRetriever:
    """Finds by shared words; remembers what it was asked; can be slow or broken."""

    passages: Sequence[SearchResult] = ()
    asked: list[SearchQuery] = field(default_factory=list)
    earlier: list[tuple[str, ...]] = field(default_factory=list)
    failure: Exception | None = None
    seconds: float = 0.0
    most_at_once: int = 0
    _now: int = 0

    async def search(self, query: SearchQuery, *, earlier: Sequence[str] = ()) -> SearchResponse:
        self.asked.append(query)
        self.earlier.append(tuple(earlier))
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        await asyncio.sleep(self.seconds)
        self._now -= 1
        if self.failure is not None:
            raise self.failure
        self._check_module(query)
        found = [self._scored(query, one) for one in self.passages if one.book_id in query.book_ids]
        near = [
            one
            for one in sorted(found, key=lambda r: -r.similarity_score)
            if one.similarity_score > 0.0
            and one.similarity_score >= query.similarity_threshold
            and query.filters.module in {None, one.module}
        ][: query.limit]
        ranked = tuple(replace(one, rank=rank) for rank, one in enumerate(near, start=1))
        return SearchResponse(query=query, results=ranked, total_found=len(ranked))

    async def beside(
        self,
        result: SearchResult,
        direction: Direction,
        *,
        books: BookIds,
        filters: Filters,
        query: str = "",
    ) -> SearchResult | None:
        """The passage before or after on the same page, in the order that they were given in."""
        page = [one for one in self.passages if one.parent_doc_id == result.parent_doc_id]
        place = [one.chunk_id for one in page].index(result.chunk_id)
        place += 1 if direction is Direction.AFTER else -1
        return page[place] if 0 <= place < len(page) and page[place].book_id in books else None

    def _check_module(self, query: SearchQuery) -> None:
        known = sorted({one.module for one in self.passages if one.module})
        if query.filters.module is not None and query.filters.module not in known:
            raise InvalidQuestion("module", f"module must be one of {', '.join(known) or 'none'}.")

    def _scored(self, query: SearchQuery, one: SearchResult) -> SearchResult:
        wanted = set(content(query.text))
        held = set(content(f"{one.page_title} {one.section_heading} {one.text}"))
        share = len(wanted & held) / len(wanted) if wanted else 0.0
        return replace(one, similarity_score=0.9 * share, rank_score=share, vector=(share, 1.0))
