"""What the owner changes about books and sources is checked before anything is changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from bot.librarian import Librarian
from rag_core.books.book import Book, BookIds
from rag_core.books.library import Library
from rag_core.conversation.key import Platform
from rag_core.errors import InvalidQuestion
from rag_core.ingestion.pipeline import Ingestion
from rag_core.ingestion.timetable import Timetable
from rag_core.providers.edge.store import EdgeStore, open_edge_store
from tests.fakes.embedder import WordEmbedder
from tests.fakes.ingestion_stores import MemoryBooks, MemoryJobs, MemoryPolicies, MemorySources
from tests.shelf_builders import file_chunks, long_text

SOURCE = {
    "book_id": "course",
    "location": "https://example.com/sitemap.xml",
    "every": "6h",
    "base_url": "",
    "site": "",
}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeStore]:
    model = WordEmbedder()
    async with open_edge_store(
        tmp_path / "index", dimension=model.dimension, model=model.model
    ) as opened:
        yield opened


@pytest.fixture
async def librarian(store: EdgeStore) -> AsyncIterator[Librarian]:
    books, jobs, sources = MemoryBooks(), MemoryJobs(), MemorySources()
    for book_id in ("course", "faq"):
        await books.save(Book(book_id=book_id, title=book_id, files=1, chunks=1))
        await store.add(file_chunks([long_text(book_id)], book=book_id))
        await store.show_version(book_id=book_id, source_file="page.md", version=1)
    async with Ingestion(jobs=jobs, books=books, store=store, embedder=WordEmbedder()) as ingestion:
        yield Librarian(
            books=books,
            sources=sources,
            library=Library(books=books, policies=MemoryPolicies(), default_book=None),
            ingestion=ingestion,
            timetable=Timetable(sources=sources, jobs=jobs, ingestion=ingestion),
        )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"book_id": "No Book"}, "is not a book id"),
        ({"every": "6 weeks"}, "from 5m to 90d"),
        ({"site": "wiki"}, "site 'wiki' is not known"),
        ({"location": "https://me@example.com/"}, "it holds a user name or password"),
        ({"location": "http://example.com:25/"}, "port 25 is not one"),
    ],
)
async def test_a_source_that_cannot_be_is_refused(
    librarian: Librarian, changes: dict[str, str], sentence: str
) -> None:
    with pytest.raises(InvalidQuestion, match=sentence):
        await librarian.add_source(**(SOURCE | changes))
    assert await librarian.sources.all() == []


async def test_a_book_has_a_source_once_and_it_is_due_at_once(librarian: Librarian) -> None:
    added = await librarian.add_source(**SOURCE)
    assert added.next_at == added.added_at
    with pytest.raises(InvalidQuestion, match="already"):
        await librarian.add_source(**(SOURCE | {"every": ""}))
    assert await librarian.remove_source(added.source_id) == added
    with pytest.raises(InvalidQuestion, match="no source"):
        await librarian.remove_source(uuid4())


async def test_a_book_goes_with_its_passages_and_no_other_does(
    librarian: Librarian, store: EdgeStore
) -> None:
    assert (await librarian.remove_book("faq")).files == 1
    assert await store.count(books=BookIds(["faq"])) == 0
    assert await store.count(books=BookIds(["course"])) == 1
    with pytest.raises(InvalidQuestion, match=r"no book 'faq'\. Books: course\."):
        await librarian.remove_book("faq")
    with pytest.raises(InvalidQuestion, match="is not a book id"):
        await librarian.remove_book("../course")


async def test_only_books_that_are_there_are_bound(librarian: Librarian) -> None:
    with pytest.raises(InvalidQuestion, match="no book 'cours'"):
        await librarian.bind(
            platform=Platform.SLACK, channel_id="C1", book_ids=["cours"], tenant=None
        )
    (place,) = await librarian.bind(
        platform=Platform.SLACK, channel_id="C1", book_ids=["course"], tenant="T1"
    )
    assert (place.tenant, place.channel_id) == ("T1", "C1")
