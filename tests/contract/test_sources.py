"""The sources of books, on both engines."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

from rag_core.books.book import Book
from rag_core.books.source import BookSource
from rag_core.storage.books import Books
from rag_core.storage.engines.database import Database
from rag_core.storage.sources import Sources
from tests.builders import NOON

LATER = NOON + timedelta(hours=6)
DOCS = BookSource(
    source_id=uuid4(),
    book_id="course",
    location="/docs",
    added_at=NOON,
    base_url="https://docs.example/",
    site="mkdocs",
    every=timedelta(hours=6),
    next_at=NOON,
    last_job_id=uuid4(),
    last_success=NOON,
    last_failure=LATER,
    last_error="It is away.",
)


async def test_a_source_is_what_was_saved_last(database: Database) -> None:
    sources = Sources(database)
    assert await sources.add(DOCS)
    assert await sources.get(DOCS.source_id) == DOCS
    changed = replace(DOCS, last_error="", last_success=LATER, next_at=LATER)
    await sources.update(changed)
    assert await sources.get(DOCS.source_id) == replace(changed, next_at=NOON)
    assert await sources.get(uuid4()) is None
    assert await sources.remove(DOCS.source_id)
    assert not await sources.remove(DOCS.source_id)
    await sources.update(changed)
    assert await sources.all() == [], "what was removed does not come back"


async def test_a_book_has_a_location_once(database: Database) -> None:
    sources = Sources(database)
    assert await sources.add(DOCS)
    assert not await sources.add(replace(DOCS, source_id=uuid4(), every=None))
    other = replace(DOCS, source_id=uuid4(), book_id="another", every=None, next_at=None)
    assert await sources.add(other)
    assert await sources.all() == [other, DOCS]


async def test_a_due_source_is_claimed_once(database: Database) -> None:
    sources = Sources(database)
    await sources.add(DOCS)
    assert await sources.claim(DOCS, then=LATER)
    assert not await sources.claim(DOCS, then=LATER)
    held = await sources.get(DOCS.source_id)
    assert held is not None
    assert held.next_at == LATER
    assert not await sources.claim(replace(DOCS, next_at=None), then=LATER)


async def test_a_source_without_a_span_is_due_no_more_once_it_is_claimed(
    database: Database,
) -> None:
    sources = Sources(database)
    once = replace(DOCS, every=None)
    await sources.add(once)
    assert await sources.claim(once, then=None)
    assert not await sources.claim(once, then=None)
    assert await sources.get(DOCS.source_id) == replace(once, next_at=None)


async def test_a_removed_book_takes_its_sources_along(database: Database) -> None:
    books, sources = Books(database), Sources(database)
    await books.save(Book(book_id="course", title="Course"))
    kept = replace(DOCS, source_id=uuid4(), book_id="another")
    for source in (DOCS, kept):
        await sources.add(source)
    await books.remove("course")
    assert await sources.all() == [kept]
