"""The one tool that the model has: it looks things up in the books that the code allows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

from pydantic import ValidationError

from rag_core.agent.budget import estimated_tokens
from rag_core.agent.checks.instructions import for_readers, label, readable
from rag_core.agent.tool_contract import (
    TOOL_NAME,
    Passage,
    ToolArguments,
    ToolResponse,
    explained,
    query_of,
)
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.conversation.state import RetrievalRecord
from rag_core.errors import InvalidQuestion
from rag_core.retrieval.context import RetrievalContext
from rag_core.retrieval.query import DEFAULT_LIMIT, Filters, SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult
from rag_core.text.visible import visible

NOTHING_ELSE: Mapping[str, str] = MappingProxyType({})


class Searches(Protocol):
    """What the tool needs of the retriever."""

    async def search(
        self, query: SearchQuery, *, earlier: Sequence[str] = ()
    ) -> SearchResponse: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBounds:
    """What the code decides about a search: the model can neither see nor change it."""

    books: BookIds
    audience: Audience | None
    filters: Filters
    top_k: int = DEFAULT_LIMIT
    most: int | None = None
    """Where the asker named a number: what stands beside a passage counts, too."""
    similarity_threshold: float = 0.0
    evidence_tokens: int = 8_000

    def applied(self) -> dict[str, object]:
        """What holds for every search of an answer, by name."""
        return {
            "book_ids": self.books.ids,
            "limit": self.top_k,
            "similarity_threshold": self.similarity_threshold,
            **self.filters.applied(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One search that was made, not numbered yet."""

    query: str
    found: tuple[SearchResult, ...] = ()
    took_ms: float = 0.0
    error: str | None = None


class RetrievalTool:
    """Searches for one answer and numbers what it found, across all its searches."""

    def __init__(
        self,
        *,
        retriever: Searches,
        bounds: ToolBounds,
        question: str,
        now: Callable[[], datetime],
        earlier: Sequence[str] = (),
        sought: Mapping[str, str] = NOTHING_ELSE,
    ) -> None:
        self._retriever = retriever
        self._bounds = bounds
        self._now = now
        self._earlier = tuple(map(visible, earlier))
        """What the asker said in the thread before."""
        self._sought = sought
        """What is looked for in the place of a query: a follow-up that was made to stand alone is
        looked for in its own words, since the thread is searched by anyway."""
        self._handed_tokens = 0
        self.context = RetrievalContext(
            query=question, filter_applied=tuple(sorted(bounds.applied().items()))
        )
        self.records: tuple[RetrievalRecord, ...] = ()

    async def search(self, arguments: str) -> Search:
        """Look up what the model asked for. Arguments outside the schema are an error to read."""
        try:
            asked = ToolArguments.model_validate_json(arguments)
        except ValidationError as error:
            return Search(query=query_of(arguments), error=explained(error))
        started = time.perf_counter()
        try:
            response = await self._retriever.search(self._query(asked), earlier=self._earlier)
        except InvalidQuestion as error:
            return Search(query=asked.query, error=error.message)
        took = (time.perf_counter() - started) * 1_000
        most = asked.top_k or self._bounds.most
        return Search(query=asked.query, found=response.results[:most], took_ms=took)

    def _query(self, asked: ToolArguments) -> SearchQuery:
        bounds = self._bounds
        threshold = asked.similarity_threshold
        return SearchQuery(
            text=visible(self._sought.get(asked.query, asked.query)),
            book_ids=bounds.books,
            audience=bounds.audience,
            limit=asked.top_k or bounds.top_k,
            similarity_threshold=max(threshold or 0.0, bounds.similarity_threshold),
            filters=narrowed(bounds.filters, asked.module),
        )

    def number(self, search: Search) -> ToolResponse:
        """Add a search to the evidence; its passages get the numbers to cite."""
        if search.error is not None:
            return ToolResponse(query=search.query, error=search.error)
        at = self._now()
        self.context, numbered = self.context.extended(
            map(readable, self._within_budget(search.found)), took_ms=search.took_ms, at=at
        )
        self.records += (record_of(search, numbered, at, self._bounds.books),)
        return ToolResponse(query=search.query, results=tuple(map(passage_of, numbered)))

    def _within_budget(self, found: Iterable[SearchResult]) -> list[SearchResult]:
        """As many passages, best first, as the prompt has room for."""
        kept: list[SearchResult] = []
        for result in found:
            tokens = estimated_tokens(result.text)
            if self._handed_tokens + tokens > self._bounds.evidence_tokens:
                break
            self._handed_tokens += tokens
            kept.append(result)
        return kept


def narrowed(filters: Filters, module: str | None) -> Filters:
    """The filters with the model's module, where the asker has not chosen one."""
    if module is None or filters.module is not None:
        return filters
    return replace(filters, module=module)


def record_of(
    search: Search, numbered: tuple[SearchResult, ...], at: datetime, books: BookIds
) -> RetrievalRecord:
    scores = [result.similarity_score for result in numbered]
    return RetrievalRecord(
        tool_name=TOOL_NAME,
        query=search.query,
        results_count=len(scores),
        avg_similarity=sum(scores) / len(scores) if scores else 0.0,
        timestamp=at,
        books=books.ids,
    )


def passage_of(result: SearchResult) -> Passage:
    return Passage(
        chunk_text=for_readers(visible(result.text)),
        page_title=result.page_title,
        section_heading=result.section_heading,
        source_url=label(result.page_url or "") or result.source_file,
        similarity_score=round(result.similarity_score, 4),
        rank=result.rank,
    )
