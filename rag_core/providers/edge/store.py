"""The embedded index: Qdrant's engine in this process, off the event loop."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import qdrant_edge as edge

from rag_core.books.book import BookIds
from rag_core.errors import StorageFull
from rag_core.ingestion.documents import EmbeddedChunk
from rag_core.ports import EmbeddedQuery, Vector
from rag_core.providers.edge.building import Building, GraphRules, build_in_child
from rag_core.providers.edge.editions import Editions
from rag_core.providers.edge.home import EdgeHome, open_home
from rag_core.providers.edge.points import point_of
from rag_core.providers.edge.rarity import Reach
from rag_core.providers.edge.search import EdgeSearch
from rag_core.providers.edge.space import TO_DELETE, check_space
from rag_core.providers.index.conditions import Condition
from rag_core.providers.index.payload import EDITION, edition, parts_of, point_number
from rag_core.providers.index.stored_fields import StoredFields
from rag_core.providers.index.visibility import View, Visibility
from rag_core.providers.index.write_order import WriteOrder
from rag_core.retrieval.candidates import AsFound, Order
from rag_core.retrieval.results import SearchResult

log = logging.getLogger(__name__)

T = TypeVar("T")

BATCH = 64
"""Passages in one call, during which nothing else in the process runs: two or three milliseconds.
Larger calls take no less for each."""
FILES = 16
"""Files whose passages one call removes, for the same reason."""


class EdgeStore(StoredFields):
    """VectorStore over one folder, which one process may hold."""

    def __init__(self, home: EdgeHome) -> None:
        self._home = home
        self._search = EdgeSearch(home.shard)
        self._visibility = Visibility(View())
        self._editions = Editions()
        self._generation = 0
        self._written = 0
        self._order = WriteOrder()
        self._building = Building(self._build, quiet_seconds=home.rules.quiet_seconds)

    async def add(self, chunks: Sequence[EmbeddedChunk]) -> None:
        await self._write(lambda: self._add(chunks))

    async def show_version(self, *, book_id: str, source_file: str, version: int | None) -> None:
        await self.show_versions(book_id=book_id, versions={source_file: version})

    async def show_versions(self, *, book_id: str, versions: Mapping[str, int | None]) -> None:
        await self._write(lambda: self._show(book_id, versions))

    async def drop_book(self, book_id: str) -> None:
        await self._write(lambda: self._drop(book_id))

    async def search(
        self,
        query: EmbeddedQuery,
        *,
        books: BookIds,
        limit: int,
        pool: int = 0,
        order: Order = AsFound,
    ) -> Sequence[SearchResult]:
        def work(reach: Reach) -> Sequence[SearchResult]:
            return self._search.search(query, reach, limit=limit, pool=pool, order=order)

        return await self._read(books, [], work)

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]:
        """By their numbers, which id and version make up."""
        versions = self._editions.versions(books)
        points = {point_number(each, version) for each in chunk_ids for version in versions}
        none: list[SearchResult] = []
        found = await self._read(books, none, lambda reach: self._search.those(reach, points))
        return {result.chunk_id: result for result in found}

    async def count(self, *, books: BookIds) -> int:
        return await self._read(books, 0, self._search.count)

    @asynccontextmanager
    async def frozen(self) -> AsyncIterator[Path | None]:
        """The index's folder, which nobody writes until the end of the block; reads go on."""
        async with self._order.turn:
            await self._building.stop()
            await self._home.flush()
            try:
                yield self._home.folder
            finally:
                self._building.soon()

    async def settled(self) -> None:
        """Wait until the index is as quick as it gets with what it holds now."""
        await self._building.settled()

    async def shown_versions(self, book_id: str) -> Mapping[str, int]:
        """From memory: the engine would go over the whole book, and nothing else ran meanwhile."""
        view = self._visibility.view
        return {} if book_id in view.dropped else self._editions.shown(book_id, view.hidden)

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

    async def _read(self, books: BookIds, nothing: T, work: Callable[[Reach], T]) -> T:
        """Run a read in a thread, through one view of the index from start to end."""
        with self._visibility.reading() as view:
            readable = tuple(book for book in books if book not in view.dropped)
            if not readable:
                return nothing
            reach = Reach(books=readable, hidden=view.hidden, generation=self._generation)
            return await self._home.read(work, reach)

    async def _write(self, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            self._written += 1
            await self._building.stop()
            try:
                await work()
            finally:
                self._building.soon()

        await self._order.run(run)

    async def _add(self, chunks: Sequence[EmbeddedChunk]) -> None:
        names = {
            edition(m.book_id, m.version, m.source_file): (m.book_id, m.source_file, m.version)
            for m in (embedded.chunk.metadata for embedded in chunks)
        }
        view = self._visibility.view
        for name, (book_id, source_file, version) in names.items():
            if version in self._editions.of(book_id, source_file) and name not in view.hidden:
                raise ValueError("a version that readers see is not added to")
        if not names.keys() <= view.hidden:
            await self._change(replace(view, hidden=view.hidden | names.keys()))
        self._editions.add(names)
        for start in range(0, len(chunks), BATCH):
            await self._home.write(self._insert, chunks[start : start + BATCH])
        await self._home.wrote(len(chunks))

    async def _show(self, book_id: str, versions: Mapping[str, int | None]) -> None:
        gone: set[str] = set()
        shown: set[str] = set()
        for source_file, version in versions.items():
            for number in self._editions.of(book_id, source_file):
                name = edition(book_id, number, source_file)
                (shown if number == version else gone).add(name)
        view = self._visibility.view
        hidden = view.hidden - shown | gone
        if hidden != view.hidden:
            await self._change(replace(view, hidden=hidden))
        if not gone:
            return
        await self._delete_editions(sorted(gone))
        self._editions.keep(book_id, versions)
        # Nothing is left of these to hide; the file on disk may name them until its next change.
        await self._visibility.switch(replace(self._visibility.view, hidden=hidden - gone))

    async def _drop(self, book_id: str) -> None:
        view = self._visibility.view
        await self._change(replace(view, dropped=view.dropped | {book_id}))
        await self._delete_editions(self._editions.names(book_id))
        await self._home.write(self._delete, "book_id", [book_id])
        self._editions.drop(book_id)
        hidden = frozenset(name for name in view.hidden if parts_of(name)[0] != book_id)
        await self._change(View(hidden=hidden, dropped=view.dropped))

    async def _change(self, view: View) -> None:
        """Write down what readers may see, then let them see it: the file is never behind."""
        await self._home.note(view)
        self._generation += 1
        await self._visibility.switch(view)

    async def _build(self) -> None:
        """Give the index its graph, in a copy that takes its place if nothing is written first."""
        if not await self._home.needs_graph():
            return
        try:
            async with self._order.turn:
                as_of = self._written
                target = await self._home.copied()
            await build_in_child(target)
        except Exception:
            await self._home.tidy()  # half a copy is of no use, and takes space
            raise
        await self._order.run(lambda: self._move(target, as_of))

    async def _move(self, target: Path, as_of: int) -> None:
        """Read and write the shard there from now on: it holds the same, unless one wrote."""
        if as_of != self._written:
            return
        before = await self._home.move(target)
        self._search.moved_to(self._home.shard)
        await self._home.note(self._visibility.view)
        await self._visibility.switch(self._visibility.view)  # nobody reads the old one after it
        await self._home.tidy(before)

    def _insert(self, chunks: Sequence[EmbeddedChunk]) -> None:
        check_space(self._home.folder)
        points = [point_of(embedded) for embedded in chunks]
        self._home.shard.update(edge.UpdateOperation.upsert_points(points))

    async def _delete_editions(self, names: list[str]) -> None:
        for start in range(0, len(names), FILES):
            await self._home.write(self._delete, EDITION, names[start : start + FILES])

    def _delete(self, key: str, values: list[str]) -> None:
        check_space(self._home.folder, needed=TO_DELETE)
        named = edge.Filter(must=[edge.FieldCondition(key, match=edge.MatchAny(values))])
        self._home.shard.update(edge.UpdateOperation.delete_points_by_filter(named))

    async def _start(self) -> None:
        """Clear away what a crash left unseen, and learn which versions there are."""
        if dropped := self._home.left("dropped"):
            await self._home.write(self._delete, "book_id", dropped)
        unseen = await self._cleared(self._home.left("hidden"))
        self._editions.add(await self._home.write(self._all_editions))
        await self._change(View(hidden=frozenset(unseen)))
        await self._home.tidy()
        self._building.soon()

    async def _cleared(self, editions: list[str]) -> list[str]:
        """Takes these away, and tells which are still there: on a full disk they stay unseen, since
        to clear up is no reason not to start."""
        try:
            await self._delete_editions(editions)
        except StorageFull:
            log.warning("versions that nobody sees stay in the index until the next start")
            return editions
        return []

    def _all_editions(self) -> list[str]:
        total = self._home.shard.count(edge.CountRequest())
        if not total:
            return []
        found = self._home.shard.facet(edge.FacetRequest(EDITION, limit=total, exact=True))
        return [str(hit.value) for hit in found.hits if hit.count]

    async def _close(self) -> None:
        await self._building.stop()
        await self._order.ended()
        await self._building.stop()
        await self._home.close()


@asynccontextmanager
async def open_edge_store(
    folder: Path, *, dimension: int, model: str, rules: GraphRules | None = None
) -> AsyncIterator[EdgeStore]:
    """The index in this folder, made if need be; vectors of another model are refused."""
    home = await open_home(folder, dimension=dimension, model=model, rules=rules or GraphRules())
    store = EdgeStore(home)
    try:
        await store._start()
        yield store
    finally:
        await store._close()
