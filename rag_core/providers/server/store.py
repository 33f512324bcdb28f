"""The index on a Qdrant server, for several hosts and for many books."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from qdrant_client import models

from rag_core.books.book import BookIds
from rag_core.errors import UpstreamUnavailable
from rag_core.ingestion.documents import EmbeddedChunk
from rag_core.ports import EmbeddedQuery, Vector
from rag_core.providers.index.bm25 import words_model
from rag_core.providers.index.conditions import Condition, is_one_of
from rag_core.providers.index.payload import (
    TENANT,
    edition,
    parts_of,
    payload_of,
    point_id,
    searchable_text,
)
from rag_core.providers.index.stored_fields import StoredFields
from rag_core.providers.index.write_order import WriteOrder
from rag_core.providers.retries import Retries
from rag_core.providers.server.collection import (
    DENSE,
    SOURCE_FILE,
    TERMS,
    WORDS,
    BuiltWith,
    CollectionOptions,
    built_with,
    prepare,
    state_collection,
)
from rag_core.providers.server.connection import SERVICE, Connection, connected
from rag_core.providers.server.filters import one_of
from rag_core.providers.server.rarity import Reach
from rag_core.providers.server.registers import QUIET_SECONDS, Register, Registers, with_hidden
from rag_core.providers.server.search import ServerSearch
from rag_core.retrieval.candidates import AsFound, Order
from rag_core.retrieval.results import SearchResult

T = TypeVar("T")

BATCH = 128
"""Points in one call: 8 MB at the longest vectors, a quarter of what the server takes."""
FREE_READS = 3
"""Reads that may find their view changed before the next one holds up the writer."""
READS = 12


class ServerStore(StoredFields):
    """VectorStore over one collection; other processes may read and write it too."""

    def __init__(self, connection: Connection, collection: str, *, registers: Registers) -> None:
        self._connection = connection
        self._collection = collection
        self._registers = registers
        self._search = ServerSearch(connection, collection)
        self._words = words_model()
        self._seen: dict[str, Register] = {}
        self._opened: set[str] = set()
        self._cleared: dict[str, frozenset[str]] = {}
        self._order = WriteOrder()

    async def add(self, chunks: Sequence[EmbeddedChunk]) -> None:
        await self._order.run(lambda: self._add(chunks))

    async def show_version(self, *, book_id: str, source_file: str, version: int | None) -> None:
        await self.show_versions(book_id=book_id, versions={source_file: version})

    async def show_versions(self, *, book_id: str, versions: Mapping[str, int | None]) -> None:
        await self._order.run(lambda: self._show(book_id, versions))

    async def drop_book(self, book_id: str) -> None:
        await self._order.run(lambda: self._drop(book_id))

    async def search(
        self,
        query: EmbeddedQuery,
        *,
        books: BookIds,
        limit: int,
        pool: int = 0,
        order: Order = AsFound,
    ) -> Sequence[SearchResult]:
        def work(reach: Reach) -> Awaitable[Sequence[SearchResult]]:
            return self._search.search(query, reach, limit=limit, pool=pool, order=order)

        return await self._read(books, [], work)

    async def count(self, *, books: BookIds) -> int:
        return await self._read(books, 0, self._search.count)

    @asynccontextmanager
    async def frozen(self) -> AsyncIterator[Path | None]:
        """Nothing to copy: the server keeps its own files and snapshots."""
        yield None

    async def _values(
        self, key: str, books: BookIds, conditions: Sequence[Condition] = ()
    ) -> Mapping[str, int]:
        nothing: dict[str, int] = {}
        return await self._read(
            books, nothing, lambda reach: self._search.values(key, reach, conditions)
        )

    async def _matching(
        self, books: BookIds, conditions: Sequence[Condition], *, most: int | None = None
    ) -> Sequence[SearchResult]:
        return await self._read(
            books, [], lambda reach: self._search.matching(reach, conditions, most=most)
        )

    async def _near(
        self, vector: Vector, books: BookIds, conditions: Sequence[Condition], *, threshold: float
    ) -> Collection[str]:
        nothing: set[str] = set()
        return await self._read(
            books,
            nothing,
            lambda reach: self._search.near(vector, reach, conditions, threshold=threshold),
        )

    async def _read(self, books: BookIds, nothing: T, work: Callable[[Reach], Awaitable[T]]) -> T:
        """What one view of the books shows, found while nobody changed them."""
        for _ in range(FREE_READS):
            if found := await self._read_once(books, nothing, work):
                return found[0]
        async with self._order.turn:
            for _ in range(READS):
                if found := await self._read_once(books, nothing, work):
                    return found[0]
        raise UpstreamUnavailable(SERVICE, "the index changes faster than it can be searched")

    async def _read_once(
        self, books: BookIds, nothing: T, work: Callable[[Reach], Awaitable[T]]
    ) -> tuple[T] | None:
        """What was found, unless a book changed since its register was last read."""
        if not self._seen.keys() >= set(books):
            self._seen |= await self._registers.read(list(books))
        seen = {book: self._seen[book] for book in books}
        reach = reach_of(seen)
        found = await work(reach) if reach.books else nothing
        now = await self._registers.read(list(books))
        self._seen |= now
        return (found,) if now == seen else None

    async def _add(self, chunks: Sequence[EmbeddedChunk]) -> None:
        by_book: dict[str, set[str]] = {}
        for metadata in (embedded.chunk.metadata for embedded in chunks):
            name = edition(metadata.book_id, metadata.version, metadata.source_file)
            by_book.setdefault(metadata.book_id, set()).add(name)
        for book_id, names in by_book.items():
            await self._begin(book_id, names - self._opened)
        for start in range(0, len(chunks), BATCH):
            await self._insert(chunks[start : start + BATCH])

    async def _begin(self, book_id: str, names: Collection[str]) -> None:
        """Hide versions before their first chunk comes; what a crash left of them goes first."""
        if not names:
            return
        register = (await self._registers.read([book_id]))[book_id]
        if register.dropped:
            await self._drop(book_id)
        reach = Reach((book_id,), register.hidden, ())
        shown = await self._search.values("edition", reach, [is_one_of("edition", *names)])
        if shown:
            raise ValueError("a version that readers see is not added to")
        await self._change(book_id, hide=frozenset(names))
        await self._delete(one_of(TENANT, [book_id]), one_of("edition", names))
        self._opened |= set(names)

    async def _show(self, book_id: str, versions: Mapping[str, int | None]) -> None:
        if not versions:
            return
        everything = Reach((book_id,), frozenset(), ())
        there = await self._search.values(
            "edition", everything, [is_one_of(SOURCE_FILE, *versions)]
        )
        shown = {
            edition(book_id, version, source_file)
            for source_file, version in versions.items()
            if version is not None
        }
        gone = frozenset(there) - shown
        register = (await self._registers.read([book_id]))[book_id]
        if not gone and not shown & register.hidden:
            return
        await self._change(book_id, hide=gone, show=frozenset(shown))
        if gone:
            await self._delete(one_of(TENANT, [book_id]), one_of("edition", gone))
        self._opened -= gone | shown
        # Nothing is left of these to hide: the next change of the book says so too.
        self._cleared[book_id] = self._cleared.get(book_id, frozenset()) | gone

    async def _drop(self, book_id: str) -> None:
        await self._registers.change(book_id, lambda register: replace(register, dropped=True))
        await self._delete(one_of(TENANT, [book_id]))
        await self._registers.change(
            book_id, lambda register: replace(register, dropped=False, hidden=frozenset())
        )
        self._opened -= {name for name in self._opened if parts_of(name)[0] == book_id}
        self._cleared.pop(book_id, None)

    async def _change(
        self, book_id: str, *, hide: frozenset[str], show: frozenset[str] = frozenset()
    ) -> None:
        cleared = self._cleared.get(book_id, frozenset()) - hide
        await self._registers.change(
            book_id,
            lambda register: with_hidden(register, (register.hidden - show - cleared) | hide),
        )
        self._cleared.pop(book_id, None)

    async def _insert(self, chunks: Sequence[EmbeddedChunk]) -> None:
        points = [self._point(embedded) for embedded in chunks]
        await self._connection.ask(
            lambda client: client.upsert(self._collection, points, wait=True)
        )

    def _point(self, embedded: EmbeddedChunk) -> models.PointStruct:
        words = self._words.embed_document(searchable_text(embedded))
        sparse = models.SparseVector(indices=list(words.indices), values=list(words.values))
        return models.PointStruct(
            id=point_id(embedded.chunk.id, embedded.chunk.metadata.version),
            vector={DENSE: list(embedded.vector), WORDS: sparse},
            payload=payload_of(embedded) | {TERMS: sorted(words.indices)},
        )

    async def _delete(self, *conditions: Any) -> None:
        named = models.FilterSelector(filter=models.Filter(must=list(conditions)))
        await self._connection.ask(lambda client: client.delete(self._collection, named, wait=True))

    async def _close(self) -> None:
        await self._order.ended()


def reach_of(seen: Mapping[str, Register]) -> Reach:
    """The books that are not on their way out, and what of them is not for readers."""
    kept = {book: register for book, register in sorted(seen.items()) if not register.dropped}
    return Reach(
        books=tuple(kept),
        hidden=frozenset().union(*(register.hidden for register in kept.values())),
        generations=tuple(register.generation for register in kept.values()),
    )


@asynccontextmanager
async def open_server_store(
    url: str,
    *,
    api_key: str | None,
    collection: str,
    dimension: int,
    model: str,
    options: CollectionOptions | None = None,
    retries: Retries | None = None,
    quiet_seconds: float = QUIET_SECONDS,
) -> AsyncIterator[ServerStore]:
    """The index in this collection, made if need be; vectors of another model are refused."""
    async with connected(url, api_key, retries) as connection:
        wanted = BuiltWith(model=model, dimension=dimension)
        await prepare(connection, collection, wanted, options or CollectionOptions())
        registers = Registers(
            connection=connection,
            collection=state_collection(collection),
            quiet_seconds=quiet_seconds,
        )
        store = ServerStore(connection, collection, registers=registers)
        try:
            yield store
        finally:
            await store._close()


async def server_model(url: str, *, api_key: str | None, collection: str) -> str | None:
    """Which embedding model the index on the server was built with; none without an index."""
    async with connected(url, api_key, None) as connection:
        built = await built_with(connection, collection)
        return built.model if built else None
