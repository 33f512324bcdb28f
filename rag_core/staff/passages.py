"""All passages that an answer may cite: those of the documents, and kept staff answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from rag_core.books.book import BookIds
from rag_core.retrieval.results import SearchResult


class FindsChunks(Protocol):
    """Where passages are looked up by their ids."""

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]: ...


class AllPassages:
    """Looks into several places."""

    def __init__(self, *places: FindsChunks) -> None:
        self._places = places

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]:
        found: dict[str, SearchResult] = {}
        for place in self._places:
            found |= await place.chunks(chunk_ids, books=books)
        return found
