"""Where passages are kept and found by what they mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rag_core.books.book import BookIds
from rag_core.ingestion.documents import EmbeddedChunk
from rag_core.ports.models import Vector
from rag_core.retrieval.candidates import AsFound, Order
from rag_core.retrieval.cosines import USUAL
from rag_core.retrieval.query import EVERYTHING, Filters
from rag_core.retrieval.results import SearchResult

MOST_COUNTED = 10_000
"""Passages above a threshold that are counted one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedText:
    """A text to look for, with its vector."""

    text: str
    vector: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedQuery:
    """A query with its vector and the conditions that hold for it."""

    text: str
    vector: Vector
    filters: Filters = field(default_factory=Filters)
    thread: EmbeddedText | None = None
    """The asker's turns so far as one text, this one included; similarity is to `text` alone."""
    cosine_weight: float = USUAL.weight
    """What the cosines of the vectors' model count beside the other signals."""

    @property
    def texts(self) -> tuple[EmbeddedText, ...]:
        """What is looked for: the question, then its thread."""
        own = EmbeddedText(text=self.text, vector=self.vector)
        return (own,) if self.thread is None else (own, self.thread)


class VectorStore(Protocol):
    """Keeps embedded chunks and finds the nearest ones.

    A new version of a file is added beside the old one and stays unseen until `show_version`;
    that call shows the new version and hides the old one at once for every reader.
    """

    async def add(self, chunks: Sequence[EmbeddedChunk]) -> None: ...

    async def show_version(self, *, book_id: str, source_file: str, version: int | None) -> None:
        """Make exactly this version of the file visible (None: no version), then drop the rest."""
        ...

    async def show_versions(self, *, book_id: str, versions: Mapping[str, int | None]) -> None:
        """The same for several files of a book at once; what is as it should be costs nothing."""
        ...

    async def search(
        self,
        query: EmbeddedQuery,
        *,
        books: BookIds,
        limit: int,
        pool: int = 0,
        order: Order = AsFound,
    ) -> Sequence[SearchResult]:
        """The first of what `order` makes of the best passages, at least `pool` of them.

        A query without text is looked for by its vector alone."""
        ...

    async def matches(
        self, vector: Vector, *, books: BookIds, filters: Filters, threshold: float
    ) -> int:
        """How many different texts these books hold that pass the filters and are at least as near
        to the vector as the threshold; of more than `MOST_COUNTED`, so many."""
        ...

    async def lesson(
        self, parent_doc_id: str, *, books: BookIds, filters: Filters = EVERYTHING
    ) -> Sequence[SearchResult]:
        """All chunks of one lesson that a search with these filters may find, in order."""
        ...

    async def lessons(
        self, parent_doc_ids: Collection[str], *, books: BookIds, filters: Filters = EVERYTHING
    ) -> Sequence[SearchResult]:
        """The same for several lessons in one call, one after the other."""
        ...

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]: ...

    async def texts(
        self, content_hashes: Collection[str], *, books: BookIds, limit: int
    ) -> Sequence[SearchResult]:
        """Chunks that hold one of these texts, with their vectors, in no order."""
        ...

    async def modules(self, *, books: BookIds, filters: Filters = EVERYTHING) -> Sequence[str]:
        """The modules of these books that have something released by the filters' date, sorted;
        of the other filters, those that name modules count."""
        ...

    async def count(self, *, books: BookIds) -> int: ...

    async def shown_versions(self, book_id: str) -> Mapping[str, int]:
        """Which version of each file readers see: what a database says of the index may be old."""
        ...

    async def drop_book(self, book_id: str) -> None: ...

    def frozen(self) -> AbstractAsyncContextManager[Path | None]:
        """The folder of an embedded index, which nobody writes until the end of the block; None
        where the index lies on a server."""
        ...
