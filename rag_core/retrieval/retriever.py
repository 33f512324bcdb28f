"""From a query to the passages that answer it, in an order that readers are served by."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from rag_core.books.book import BookIds
from rag_core.ports import EmbeddedQuery, EmbeddedText, Embedder, Reranker, Vector, VectorStore
from rag_core.retrieval.candidates import pages_in_turn
from rag_core.retrieval.cosines import scale_of
from rag_core.retrieval.likeness import cosine
from rag_core.retrieval.query import Filters, SearchQuery, no_such_module
from rag_core.retrieval.query_cache import QueryCache
from rag_core.retrieval.reranking import LOOKED_AT, reranked
from rag_core.retrieval.results import SearchResponse, SearchResult
from rag_core.retrieval.scoring import by_all_signals
from rag_core.retrieval.thread import thread_text

WIDER = 3
"""How many times the limit is looked at, to have other pages to choose from."""
POOL = 80
"""How many passages are looked at more closely, however few are asked for."""


class BesideDocuments(Protocol):
    """A source of its own, whose passages stand among those of the documents."""

    async def joined(
        self, found: Sequence[SearchResult], asked: EmbeddedQuery, query: SearchQuery
    ) -> Sequence[SearchResult]: ...


class Retriever:
    """Searches the books that a caller may read."""

    def __init__(
        self,
        *,
        embedder: Embedder,
        store: VectorStore,
        reranker: Reranker | None = None,
        beside: BesideDocuments | None = None,
    ) -> None:
        self._embedder = QueryCache(embedder)
        self._store = store
        self._reranker = reranker
        self._beside = beside

    def forget_queries(self) -> None:
        """Drop what was searched for lately; its vectors are made anew."""
        self._embedder.clear()

    async def search(self, query: SearchQuery, *, earlier: Sequence[str] = ()) -> SearchResponse:
        """The best passages; `earlier` is what the asker said in the thread before, in order."""
        await self._check_module(query)
        asked = await self._embedded(query, earlier)
        if self._reranker is None:
            found = await self._found(query, asked, query.limit, in_turn=True)
        else:
            limit = max(LOOKED_AT, query.limit)
            best = await self._found(query, asked, limit, in_turn=False)
            found = self._in_turn(await reranked(self._reranker, asked.text, best), query.limit)
        if self._beside is not None:
            found = await self._beside.joined(found, asked, query)
        return SearchResponse(query=query, results=tuple(found), total_found=len(found))

    async def look_up(self, query: SearchQuery) -> SearchResponse:
        """The same for people and programs: with the number of passages that match, and of one
        lesson all chunks, in their order."""
        if query.filters.parent_doc_id is not None:
            lesson = await self._whole_lesson(query.filters.parent_doc_id, query)
            return SearchResponse(query=query, results=lesson, total_found=len(lesson))
        response = await self.search(query)
        matching = await self._store.matches(
            await self.embed_query(query.text),
            books=query.book_ids,
            filters=query.filters,
            threshold=query.similarity_threshold,
        )
        return replace(response, total_found=max(matching, len(response.results)))

    async def _whole_lesson(
        self, parent_doc_id: str, query: SearchQuery
    ) -> tuple[SearchResult, ...]:
        """Never cut short: whoever names a lesson wants to read it."""
        await self._check_module(query)
        vector = await self.embed_query(query.text)
        chunks = await self._store.lesson(
            parent_doc_id, books=query.book_ids, filters=query.filters
        )
        near = [(chunk, cosine(vector, chunk.vector)) for chunk in chunks]
        return tuple(
            replace(chunk, similarity_score=likeness, rank_score=likeness, rank=rank)
            for rank, (chunk, likeness) in enumerate(
                (each for each in near if each[1] >= query.similarity_threshold), start=1
            )
        )

    async def _found(
        self,
        query: SearchQuery,
        asked: EmbeddedQuery,
        limit: int,
        *,
        in_turn: bool,
    ) -> Sequence[SearchResult]:
        return await self._store.search(
            asked,
            books=query.book_ids,
            limit=limit,
            pool=max(POOL, query.limit * WIDER),
            order=partial(
                by_all_signals,
                question=asked.text,
                thread=asked.thread.text if asked.thread else None,
                threshold=query.similarity_threshold,
                in_turn=in_turn,
            ),
        )

    def _in_turn(self, results: Sequence[SearchResult], limit: int) -> list[SearchResult]:
        ordered = pages_in_turn(
            results,
            lambda each: (each.book_id, each.source_file),
            lambda each: each.rank_score,
        )
        return [replace(each, rank=rank) for rank, each in enumerate(ordered[:limit], start=1)]

    async def _embedded(self, query: SearchQuery, earlier: Sequence[str]) -> EmbeddedQuery:
        text = whole_characters(query.text.strip())
        thread = thread_text(list(map(whole_characters, earlier)), text)
        return EmbeddedQuery(
            text=text,
            vector=await self._embedder.embed_query(text),
            filters=query.filters,
            thread=await self._embedded_thread(thread) if thread else None,
            cosine_weight=scale_of(self._embedder.model).weight,
        )

    async def _embedded_thread(self, text: str) -> EmbeddedText:
        return EmbeddedText(text=text, vector=await self._embedder.embed_query(text))

    @property
    def model(self) -> str:
        """Of the vectors."""
        return self._embedder.model

    async def embed_query(self, text: str) -> Vector:
        """The vector of a query; nothing is computed for one that was looked up lately."""
        return await self._embedder.embed_query(whole_characters(text.strip()))

    async def lesson(
        self, parent_doc_id: str, *, books: BookIds, filters: Filters
    ) -> Sequence[SearchResult]:
        """All chunks of one lesson, in order; empty where a search could not find it either."""
        return await self._store.lesson(parent_doc_id, books=books, filters=filters)

    async def lessons(
        self, parent_doc_ids: Collection[str], *, books: BookIds, filters: Filters
    ) -> Sequence[SearchResult]:
        """The same for several lessons at once, one after the other."""
        return await self._store.lessons(parent_doc_ids, books=books, filters=filters)

    async def modules(self, *, books: BookIds, filters: Filters) -> Sequence[str]:
        """The modules that a reader with these filters may know of: what is not released yet is
        not named either."""
        return await self._store.modules(books=books, filters=filters)

    async def _check_module(self, query: SearchQuery) -> None:
        """A module that no book has is a slip of the pen, not an empty answer."""
        module = query.filters.module
        if module is None:
            return
        known = await self._store.modules(books=query.book_ids, filters=query.filters)
        if module not in known:
            raise no_such_module(module, known)


def whole_characters(text: str) -> str:
    """The text without halves of characters, which no model and no index takes."""
    return text.encode("utf-8", "replace").decode()
