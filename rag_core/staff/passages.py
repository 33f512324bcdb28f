"""Whether what answers cite still stands, be it a passage of a document or a staff answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from rag_core.books.book import BookIds


class FindsChunks(Protocol):
    """Where passages are looked up by their ids."""

    async def chunks(self, chunk_ids: Sequence[str], *, books: BookIds) -> Collection[str]: ...


class KnowsKept(Protocol):
    """The kept answers; of these it tells ids alone, so that no text leaves its place."""

    async def kept_ids(self, chunk_ids: Sequence[str]) -> Collection[str]: ...


class AllPassages:
    """The ids of those that still stand, wherever they may be read."""

    def __init__(self, documents: FindsChunks, staff_answers: KnowsKept) -> None:
        self._documents = documents
        self._staff_answers = staff_answers

    async def chunks(self, chunk_ids: Sequence[str], *, books: BookIds) -> Collection[str]:
        found = await self._documents.chunks(chunk_ids, books=books)
        return {*found, *await self._staff_answers.kept_ids(chunk_ids)}
