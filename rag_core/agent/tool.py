"""The tools that the model has: they look things up in the books that the code allows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from pydantic import ValidationError

from rag_core.agent.budget import estimated_tokens
from rag_core.agent.checks.instructions import for_readers, label, readable
from rag_core.agent.tool_contract import (
    READ_NAME,
    TOOL_NAME,
    Passage,
    ReadArguments,
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
from rag_core.retrieval.sections import Direction
from rag_core.text.visible import visible

NO_ROOM = "There is no room for more sections. Answer from those that you have."


class Searches(Protocol):
    """What the tool needs of the retriever."""

    async def search(
        self, query: SearchQuery, *, earlier: Sequence[str] = ()
    ) -> SearchResponse: ...

    async def beside(
        self,
        result: SearchResult,
        direction: Direction,
        *,
        books: BookIds,
        filters: Filters,
        query: str = "",
    ) -> SearchResult | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBounds:
    """What the code decides about a search: the model can neither see nor change it."""

    books: BookIds
    audience: Audience | None
    filters: Filters
    top_k: int = DEFAULT_LIMIT
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
    """One search that was made, or one section that was read on, not numbered yet."""

    query: str
    tool_name: str = TOOL_NAME
    found: tuple[SearchResult, ...] = ()
    took_ms: float = 0.0
    error: str | None = None


class RetrievalTool:
    """Searches and reads on for one answer, and numbers what it found, across all its searches."""

    def __init__(
        self,
        *,
        retriever: Searches,
        bounds: ToolBounds,
        question: str,
        now: Callable[[], datetime],
        earlier: Sequence[str] = (),
    ) -> None:
        self._retriever = retriever
        self._bounds = bounds
        self._now = now
        self._earlier = tuple(map(visible, earlier))
        """What the asker said in the thread before."""
        self._handed_tokens = 0
        self._last_query = ""
        self.context = RetrievalContext(
            query=question, filter_applied=tuple(sorted(bounds.applied().items()))
        )
        self.records: tuple[RetrievalRecord, ...] = ()

    async def search(self, arguments: str, *, earlier: Sequence[str] = ()) -> Search:
        """Look up what the model asked for. Arguments outside the schema are an error to read.

        `earlier` are questions of the same message that were looked up before this one."""
        try:
            asked = ToolArguments.model_validate_json(arguments)
        except ValidationError as error:
            return Search(query=query_of(arguments), error=explained(error))
        started = time.perf_counter()
        try:
            before = (*self._earlier, *map(visible, earlier))
            response = await self._retriever.search(self._query(asked), earlier=before)
        except InvalidQuestion as error:
            return Search(query=asked.query, error=error.message)
        took = (time.perf_counter() - started) * 1_000
        return Search(query=asked.query, found=response.results, took_ms=took)

    async def read(self, arguments: str) -> Search:
        """The section before or after one that was handed over."""
        try:
            asked = ReadArguments.model_validate_json(arguments)
        except ValidationError as error:
            return Search(query="", tool_name=READ_NAME, error=explained(error))
        search = Search(query=f"{asked.direction} {asked.rank}", tool_name=READ_NAME)
        if asked.rank not in self.context:
            count = len(self.context.results)
            known = f"The ranks so far are 1 to {count}" if count else "Search first"
            return replace(search, error=f"No section has the rank {asked.rank}. {known}.")
        started = time.perf_counter()
        found = await self._retriever.beside(
            self.context[asked.rank],
            asked.direction,
            books=self._bounds.books,
            filters=self._bounds.filters,
            query=self._last_query,
        )
        if found is None:
            end = f"Nothing stands {asked.direction} section {asked.rank} on its page."
            return replace(search, error=end)
        took = (time.perf_counter() - started) * 1_000
        return replace(search, found=(found,), took_ms=took)

    def _query(self, asked: ToolArguments) -> SearchQuery:
        bounds = self._bounds
        threshold = asked.similarity_threshold
        return SearchQuery(
            text=visible(asked.query),
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
        if search.tool_name == TOOL_NAME:
            self._last_query = search.query
        at, count = self._now(), len(self.context.results)
        self.context, numbered = self.context.extended(
            map(readable, self._within_budget(search.found)), took_ms=search.took_ms, at=at
        )
        self.records += (record_of(search, numbered, at, self._bounds.books),)
        if search.found and not numbered:
            return ToolResponse(query=search.query, error=NO_ROOM)
        by_rank = {result.rank: result for result in numbered}
        return ToolResponse(
            query=search.query,
            results=tuple(
                passage_of(result, is_repeated=rank <= count) for rank, result in by_rank.items()
            ),
        )

    def _within_budget(self, found: Iterable[SearchResult]) -> list[SearchResult]:
        """As many passages, best first, as the prompt has room for."""
        kept: list[SearchResult] = []
        for result in found:
            is_new = self.context.handed_over(result) is None
            tokens = estimated_tokens(result.text) if is_new else 0
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
        tool_name=search.tool_name,
        query=search.query,
        results_count=len(scores),
        avg_similarity=sum(scores) / len(scores) if scores else 0.0,
        timestamp=at,
        books=books.ids,
    )


def passage_of(result: SearchResult, *, is_repeated: bool = False) -> Passage:
    return Passage(
        chunk_text=for_readers(visible(result.text)),
        page_title=result.page_title,
        section_heading=result.section_heading,
        source_url=label(result.page_url or "") or result.source_file,
        similarity_score=result.similarity_score,
        rank=result.rank,
        before=result.heading_before,
        after=result.heading_after,
        is_repeated=is_repeated,
    )
