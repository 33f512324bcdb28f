"""What both indexes answer from the fields of their passages, without looking for anything."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from rag_core.books.book import BookIds
from rag_core.ports.models import Vector
from rag_core.providers.index.conditions import Condition, conditions_of, is_one_of
from rag_core.providers.index.payload import parts_of
from rag_core.retrieval.query import EVERYTHING, Filters
from rag_core.retrieval.results import SearchResult


class StoredFields(ABC):
    """An index that can count a field's values and read the passages that meet conditions."""

    @abstractmethod
    async def _values(
        self, key: str, books: BookIds, conditions: Sequence[Condition] = ()
    ) -> Mapping[str, int]:
        """How many passages that readers see, and that meet all conditions, have each value."""

    @abstractmethod
    async def _matching(
        self, books: BookIds, conditions: Sequence[Condition], *, most: int | None = None
    ) -> Sequence[SearchResult]:
        """Every passage that readers see and that meets all of these, or so many of them."""

    @abstractmethod
    async def _near(
        self, vector: Vector, books: BookIds, conditions: Sequence[Condition], *, threshold: float
    ) -> Collection[str]:
        """The content hashes of the passages that are at least so near, at most MOST_COUNTED."""

    async def matches(
        self, vector: Vector, *, books: BookIds, filters: Filters, threshold: float
    ) -> int:
        conditions = tuple(conditions_of(replace(filters, released_at=minute_of(filters))))
        if threshold > 0.0:
            return len(await self._near(vector, books, conditions, threshold=threshold))
        return len(await self._values("content_hash", books, conditions))

    async def lesson(
        self, parent_doc_id: str, *, books: BookIds, filters: Filters = EVERYTHING
    ) -> Sequence[SearchResult]:
        return await self.lessons([parent_doc_id], books=books, filters=filters)

    async def lessons(
        self, parent_doc_ids: Collection[str], *, books: BookIds, filters: Filters = EVERYTHING
    ) -> Sequence[SearchResult]:
        if not parent_doc_ids:
            return []
        own = is_one_of("parent_doc_id", *parent_doc_ids)
        found = await self._matching(books, [own, *conditions_of(filters)])
        in_order = sorted(found, key=lambda result: (result.source_file, result.chunk_index))
        return [replace(result, rank=rank) for rank, result in enumerate(in_order, start=1)]

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]:
        if not chunk_ids:
            return {}
        found = await self._matching(books, [is_one_of("chunk_id", *chunk_ids)])
        return {result.chunk_id: result for result in found}

    async def texts(
        self, content_hashes: Collection[str], *, books: BookIds, limit: int
    ) -> Sequence[SearchResult]:
        if not content_hashes:
            return []
        same = is_one_of("content_hash", *content_hashes)
        return await self._matching(books, [same], most=limit)

    async def modules(self, *, books: BookIds, filters: Filters = EVERYTHING) -> Sequence[str]:
        open_ = Filters(modules=filters.modules, released_at=minute_of(filters))
        return sorted(await self._values("module", books, tuple(conditions_of(open_))))

    async def shown_versions(self, book_id: str) -> Mapping[str, int]:
        named = await self._values("edition", BookIds([book_id]))
        return {source_file: version for _, version, source_file in map(parts_of, named)}


def minute_of(filters: Filters) -> datetime | None:
    """The engines go over the whole book to count: what they said holds for a minute."""
    now = filters.released_at
    return now.replace(second=0, microsecond=0) if now else None
