"""Books, the channels bound to them, and the jobs that fill them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

from rag_core.books.book import Book
from rag_core.ingestion.job import (
    FileFailure,
    IngestionJob,
    IngestionMode,
    IngestionRecord,
    JobStatus,
)
from rag_core.storage.books import Books
from rag_core.storage.engines.database import Database
from rag_core.storage.jobs import Jobs
from tests.builders import NOON

COURSE = Book(book_id="course", title="Course", files=3, chunks=40, embedding_model="local")
JOB = IngestionJob(
    job_id=uuid4(),
    book_id="course",
    mode=IngestionMode.INCREMENTAL,
    status=JobStatus.QUEUED,
    started_at=NOON,
    sources=("/docs",),
)
RECORD = IngestionRecord(
    source_file="limits.md",
    file_hash="hash",
    version=1,
    chunk_ids=("a", "b"),
    ingested_at=NOON,
    module="m",
    chapter=0,
    lesson=15,
    source="/docs",
)


async def test_a_book_is_what_was_saved_last(database: Database) -> None:
    books = Books(database)
    await books.save(COURSE)
    changed = replace(COURSE, files=4, last_full_ingest=NOON, base_url="https://docs.example/")
    await books.save(changed)
    await books.save(Book(book_id="another", title=""))
    assert await books.get("course") == changed
    assert await books.get("none") is None
    assert [book.book_id for book in await books.all()] == ["another", "course"]


async def test_a_removed_book_takes_its_files_along_and_leaves_other_books(
    database: Database,
) -> None:
    books, jobs = Books(database), Jobs(database)
    for book_id in ("course", "handbook"):
        await books.save(replace(COURSE, book_id=book_id))
        await jobs.record(book_id, RECORD)
    await books.remove("course")
    await books.remove("course")
    assert [book.book_id for book in await books.all()] == ["handbook"]
    assert (await jobs.state("course")).records == {}
    assert (await jobs.state("handbook")).records == {"limits.md": RECORD}


async def test_a_job_is_what_was_saved_last_and_is_found_until_it_is_over(
    database: Database,
) -> None:
    jobs = Jobs(database)
    running = replace(JOB, status=JobStatus.RUNNING, files_processed=2)
    failed = replace(
        JOB,
        job_id=uuid4(),
        status=JobStatus.FAILED,
        started_at=NOON + timedelta(hours=1),
        completed_at=NOON + timedelta(hours=2),
        duration_seconds=0.1 + 0.2,
        failures=(FileFailure(source_file="a.md", reason="It is empty."),),
        notices=("One.", "Two."),
        error_message="No file could be read.",
    )
    for job in (JOB, running, failed):
        await jobs.save(job)
    assert await jobs.get(JOB.job_id) == running
    assert await jobs.get(failed.job_id) == failed
    assert await jobs.get(uuid4()) is None
    assert await jobs.recent() == [failed, running]
    assert await jobs.recent(limit=1) == [failed]
    assert await jobs.unfinished() == [running]


async def test_a_books_state_is_its_files_and_its_last_runs(database: Database) -> None:
    books, jobs = Books(database), Jobs(database, collection="docs")
    empty = await jobs.state("course")
    assert (empty.collection, empty.records, empty.last_full_ingest) == ("docs", {}, None)
    await books.save(replace(COURSE, last_full_ingest=NOON, last_incremental_update=NOON))
    await jobs.record("course", RECORD)
    newer = replace(RECORD, version=2, chunk_ids=(), file_hash="new", module=None, chapter=None)
    await jobs.record("course", newer)
    others = [replace(RECORD, source_file=name) for name in ("other.md", "third.md")]
    await jobs.record_all("course", [*others, replace(others[0], version=9)])
    await jobs.record_all("course", [])
    assert (await jobs.state("course")).records["other.md"].version == 9
    for name in ("other.md", "third.md"):
        await jobs.forget_file("course", name)
    state = await jobs.state("course")
    assert state.records == {"limits.md": newer}
    assert (state.last_full_ingest, state.last_incremental_update) == (NOON, NOON)
