"""From a query to the passages that answer it, in an order that readers are served by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag_core.books.book import BookIds
from rag_core.errors import InvalidQuestion
from rag_core.ports import EmbeddedQuery, EmbeddedText, Embedder, VectorStore
from rag_core.retrieval.query import SearchQuery
from rag_core.retrieval.query_cache import QueryCache
from rag_core.retrieval.results import SearchResponse, SearchResult
from rag_core.retrieval.scoring import page_of, with_coverage, with_pages
from rag_core.retrieval.thread import thread_text

CHUNKS_OF_A_PAGE = 2
"""More sections of one page wait behind other pages, so that they do not crowd them out."""
WIDER = 3
"""How many times the limit is looked at, to have other pages to choose from."""
POOL = 100
"""How many passages are looked at more closely, however few are asked for."""
NAMED_MODULES = 20


class Retriever:
    """Searches the books that a caller may read."""

    def __init__(self, *, embedder: Embedder, store: VectorStore) -> None:
        self._embedder = QueryCache(embedder)
        self._store = store

    async def search(self, query: SearchQuery, *, earlier: Sequence[str] = ()) -> SearchResponse:
        """The best passages; `earlier` is what the asker said in the thread before, in order."""
        await self._check_module(query)
        asked = await self._embedded(query, earlier)
        found = await self._store.search(
            asked, books=query.book_ids, limit=max(POOL, query.limit * WIDER)
        )
        thread = asked.thread.text if asked.thread else None
        ordered = with_pages(with_coverage(found, asked.text, thread))
        near = [r for r in ordered if r.similarity_score >= query.similarity_threshold]
        results = renumbered(pages_in_turn(near)[: query.limit])
        return SearchResponse(query=query, results=results, total_found=len(results))

    async def _embedded(self, query: SearchQuery, earlier: Sequence[str]) -> EmbeddedQuery:
        text = whole_characters(query.text.strip())
        thread = thread_text(list(map(whole_characters, earlier)), text)
        return EmbeddedQuery(
            text=text,
            vector=await self._embedder.embed_query(text),
            filters=query.filters,
            thread=await self._embedded_thread(thread) if thread else None,
        )

    async def _embedded_thread(self, text: str) -> EmbeddedText:
        return EmbeddedText(text=text, vector=await self._embedder.embed_query(text))

    async def lesson(self, parent_doc_id: str, *, books: BookIds) -> Sequence[SearchResult]:
        """All chunks of one lesson, in order; empty where the books do not have it."""
        return await self._store.lesson(parent_doc_id, books=books)

    async def modules(self, *, books: BookIds) -> Sequence[str]:
        return await self._store.modules(books=books)

    async def _check_module(self, query: SearchQuery) -> None:
        """A module that no book has is a slip of the pen, not an empty answer."""
        module = query.filters.module
        if module is None:
            return
        known = await self._store.modules(books=query.book_ids)
        if query.filters.modules:
            known = [name for name in known if name in query.filters.modules]
        if module in known:
            return
        named = ", ".join(known[:NAMED_MODULES])
        more = f" and {len(known) - NAMED_MODULES} more" if len(known) > NAMED_MODULES else ""
        allowed = f"{named}{more}" if known else "none: these books have no modules"
        raise InvalidQuestion(
            "module", f"There is no module {module!r}. Known modules: {allowed}.", allowed=allowed
        )


def whole_characters(text: str) -> str:
    """The text without halves of characters, which no model and no index takes."""
    return text.encode("utf-8", "replace").decode()


def pages_in_turn(results: Iterable[SearchResult]) -> list[SearchResult]:
    """The first two passages of each page in their order, then what was held back."""
    taken: Counter[tuple[str, str]] = Counter()
    first: list[SearchResult] = []
    held_back: list[SearchResult] = []
    for result in results:
        page = page_of(result)
        (first if taken[page] < CHUNKS_OF_A_PAGE else held_back).append(result)
        taken[page] += 1
    return first + held_back


def renumbered(results: Iterable[SearchResult]) -> tuple[SearchResult, ...]:
    return tuple(replace(result, rank=rank) for rank, result in enumerate(results, start=1))
