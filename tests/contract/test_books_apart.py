"""Fifty books in one index: whatever is asked, no reader gets a passage of a foreign book."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from rag_core.books.book import BookIds
from rag_core.ports import EmbeddedQuery, EmbeddedText, VectorStore
from rag_core.providers.edge.store import open_edge_store
from rag_core.retrieval.query import EVERYTHING, Filters, Proficiency, SearchQuery
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.retriever import Retriever
from rag_core.retrieval.sections import Direction, SectionSearch
from tests.fakes.embedder import WordEmbedder
from tests.peers.qdrant_collection import server_store
from tests.shelf_builders import MORNING, file_chunks, long_text

BOOKS = [f"book-{number:02}" for number in range(50)]
SUBJECTS = ("gear", "valve", "motor", "sensor")
OPERATIONS = 1_000 if os.environ.get("FOOTNOTE_TESTS") == "full" else 300
EMBEDDER = WordEmbedder()


@dataclass
class Index:
    """A store with fifty books that say the same of the same things, and what it holds."""

    store: VectorStore
    ids: Mapping[str, Sequence[str]]
    parents: Mapping[str, str]


@pytest.fixture(params=["edge", "server"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Index]:
    opening: AbstractAsyncContextManager[VectorStore]
    if request.param == "server":
        opening = server_store(request.getfixturevalue("qdrant_url"))
    else:
        opening = open_edge_store(
            tmp_path / "index", dimension=EMBEDDER.dimension, model=EMBEDDER.model
        )
    async with opening as store:
        yield await filled(store)


async def filled(store: VectorStore) -> Index:
    ids: dict[str, Sequence[str]] = {}
    parents: dict[str, str] = {}
    for number, book in enumerate(BOOKS):
        texts = [f"{long_text(subject)} Owned by {book}." for subject in SUBJECTS]
        chunks = file_chunks(
            texts,
            book=book,
            module=f"module-{number % 3}",
            chapter=number % 4,
            lesson=1,
            hardware_tier=1 + number % 4,
            proficiency_level=list(Proficiency)[number % 6].value,
            released_at=MORNING + timedelta(days=number),
        )
        await store.add(chunks)
        await store.show_version(book_id=book, source_file="page.md", version=1)
        ids[book] = [each.chunk.id for each in chunks]
        parents[book] = chunks[0].chunk.metadata.parent_doc_id
    return Index(store, ids, parents)


def some_filters() -> Filters:
    """Conditions of every kind, often none."""
    chance = random.random
    return Filters(
        module=f"module-{random.randrange(3)}" if chance() < 0.2 else None,
        modules=("module-0", "module-2") if chance() < 0.1 else (),
        chapter_min=random.randrange(3) if chance() < 0.2 else None,
        hardware_tier=random.randint(1, 4) if chance() < 0.3 else None,
        proficiency_levels=(Proficiency.A1, Proficiency.C2) if chance() < 0.1 else (),
        released_at=MORNING + timedelta(days=random.randrange(50)) if chance() < 0.2 else None,
    )


async def operation(index: Index, store: VectorStore, own: BookIds) -> Sequence[SearchResult]:
    """One thing that a reader of these books may do, with ids of any book at hand."""
    text = f"{random.choice(SUBJECTS)} described {random.choice(BOOKS)}"
    asked = EmbeddedText(text=text, vector=EMBEDDER.vector(text))
    match random.randrange(7):
        case 0:
            parent = random.choice(sorted(index.parents.values()))
            return await store.lesson(parent, books=own)
        case 1:
            ids = [random.choice(index.ids[book]) for book in random.sample(BOOKS, 10)]
            return list((await store.chunks(ids, books=own)).values())
        case 2:
            retriever = Retriever(embedder=EMBEDDER, store=store)
            query = SearchQuery(
                text=text, book_ids=own, audience=None, limit=random.randint(1, 100)
            )
            return (await retriever.search(query, earlier=["valve", "motor"])).results
        case 3:
            parents = Filters(parent_doc_id=random.choice(sorted(index.parents.values())))
            query_ = EmbeddedQuery(text=text, vector=asked.vector, filters=parents)
            return await store.search(query_, books=own, limit=100)
        case 4:
            sections = SectionSearch(Retriever(embedder=EMBEDDER, store=store))
            query = SearchQuery(text=text, book_ids=own, audience=None, limit=9)
            found = (await sections.search(query)).results
            foreign = replace(
                random.choice(found), parent_doc_id=random.choice(sorted(index.parents.values()))
            )
            beside = [
                await sections.beside(one, direction, books=own, filters=EVERYTHING)
                for one in (*found[:2], foreign)
                for direction in Direction
            ]
            return [*found, *(one for one in beside if one is not None)]
        case _:
            query_ = EmbeddedQuery(
                text=text,
                vector=asked.vector,
                filters=some_filters(),
                thread=asked if random.random() < 0.3 else None,
            )
            return await store.search(query_, books=own, limit=random.randint(1, 200))


async def check_apart(index: Index, store: VectorStore, *, operations: int) -> int:
    """Run random operations for random readers, several at once; how many passages they got."""
    seen = 0
    for _ in range(operations // 10):
        readers = [BookIds(random.sample(BOOKS, random.choice([1, 1, 1, 2, 5]))) for _ in range(10)]
        answers = await asyncio.gather(*(operation(index, store, own) for own in readers))
        for own, results in zip(readers, answers, strict=True):
            seen += len(results)
            for result in results:
                assert result.book_id in own, f"{result.book_id} was read by a reader of {own}"
                assert f"Owned by {result.book_id}." in result.text
        own = readers[0]
        assert await store.count(books=own) == len(SUBJECTS) * len(own)
        modules = {f"module-{BOOKS.index(book) % 3}" for book in own}
        assert set(await store.modules(books=own)) == modules
    return seen


async def test_no_reader_gets_a_passage_of_a_foreign_book(index: Index) -> None:
    seen = await check_apart(index, index.store, operations=OPERATIONS)
    assert seen > OPERATIONS, "this says nothing where nothing is found"


class WithoutFilter:
    """The store with its book filter taken off: every reader reads everything."""

    def __init__(self, store: VectorStore, method: str) -> None:
        self._store = store
        self._method = method

    def __getattr__(self, name: str) -> object:
        real = getattr(self._store, name)
        if name != self._method:
            return real

        async def unfiltered(*arguments: object, books: BookIds, **more: object) -> object:
            return await real(*arguments, books=BookIds(BOOKS), **more)

        return unfiltered


async def test_a_filter_that_is_missing_anywhere_is_noticed(index: Index) -> None:
    for method in ("search", "lesson", "chunks", "count", "modules"):
        leaking: VectorStore = WithoutFilter(index.store, method)  # type: ignore[assignment]
        with pytest.raises(AssertionError):
            await check_apart(index, leaking, operations=OPERATIONS)
