"""Ingestion jobs, and what each file of a book left in the index."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, bindparam, delete, select

from rag_core.books.book import BookIds
from rag_core.ingestion.job import IngestionJob, IngestionRecord, IngestionState
from rag_core.storage import schema
from rag_core.storage.engines.codec import (
    JOB,
    NAMES,
    from_json,
    from_time,
    maybe_time,
    to_json,
    to_time,
)
from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement, upsert

DEFAULT_COLLECTION = "documentation"

jobs, records, books = schema.jobs, schema.ingestion_records, schema.books
SAVE = upsert(jobs, on=("job_id",))
GET = Statement(select(jobs.c.body).where(jobs.c.job_id == bindparam("job_id")))
RECENT = Statement(
    select(jobs.c.body).order_by(jobs.c.started_at.desc()).limit(bindparam("limit", type_=Integer))
)
SCANNED = 10_000
"""How many of the newest jobs are gone through for those of some books."""
RECENT_BOOKS = Statement(
    select(jobs.c.job_id, jobs.c.book_id)
    .order_by(jobs.c.started_at.desc())
    .limit(bindparam("limit", type_=Integer))
)
UNFINISHED = Statement(
    select(jobs.c.body).where(jobs.c.completed_at.is_(None)).order_by(jobs.c.started_at)
)
RECORD = upsert(records, on=("book_id", "source_file"))
RECORDS = Statement(select(records).where(records.c.book_id == bindparam("book_id")))
LAST_RUNS = Statement(
    select(books.c.last_full_ingest, books.c.last_incremental_update).where(
        books.c.book_id == bindparam("book_id")
    )
)
FORGET_FILE = Statement(
    delete(records).where(
        records.c.book_id == bindparam("book_id"),
        records.c.source_file == bindparam("source_file"),
    )
)


class Jobs:
    """Jobs by id, and the records of every file that was read."""

    def __init__(self, database: Database, *, collection: str = DEFAULT_COLLECTION) -> None:
        self._database = database
        self._collection = collection

    async def save(self, job: IngestionJob) -> None:
        await self._database.run(
            SAVE,
            job_id=str(job.job_id),
            book_id=job.book_id,
            status=job.status.value,
            started_at=to_time(job.started_at),
            completed_at=to_time(job.completed_at) if job.completed_at else None,
            body=to_json(JOB, job),
        )

    async def get(self, job_id: UUID) -> IngestionJob | None:
        rows = await self._database.rows(GET, job_id=str(job_id))
        return from_json(JOB, rows[0]["body"]) if rows else None

    async def recent(
        self, *, limit: int = 50, books: BookIds | None = None
    ) -> Sequence[IngestionJob]:
        if books is None:
            rows = await self._database.rows(RECENT, limit=limit)
            return [from_json(JOB, row["body"]) for row in rows]
        names = await self._database.rows(RECENT_BOOKS, limit=SCANNED)
        own = (row["job_id"] for row in names if row["book_id"] in books)
        found = [await self.get(UUID(job_id)) for job_id in islice(own, limit)]
        return [job for job in found if job is not None]

    async def unfinished(self) -> Sequence[IngestionJob]:
        return [from_json(JOB, row["body"]) for row in await self._database.rows(UNFINISHED)]

    async def state(self, book_id: str) -> IngestionState:
        found = await self._database.rows(RECORDS, book_id=book_id)
        runs = await self._database.rows(LAST_RUNS, book_id=book_id)
        return IngestionState(
            book_id=book_id,
            collection=self._collection,
            records={row["source_file"]: record_from_row(row) for row in found},
            last_full_ingest=maybe_time(runs[0]["last_full_ingest"]) if runs else None,
            last_incremental_update=(
                maybe_time(runs[0]["last_incremental_update"]) if runs else None
            ),
        )

    async def record(self, book_id: str, record: IngestionRecord) -> None:
        await self._database.run(RECORD, **row_of(book_id, record))

    async def record_all(self, book_id: str, records: Sequence[IngestionRecord]) -> None:
        rows = [row_of(book_id, record) for record in records]

        async def body(transaction: Transaction) -> None:
            await transaction.many(RECORD, rows)

        if rows:
            await self._database.write(body)

    async def forget_file(self, book_id: str, source_file: str) -> None:
        await self._database.run(FORGET_FILE, book_id=book_id, source_file=source_file)


def row_of(book_id: str, record: IngestionRecord) -> dict[str, Any]:
    return {
        "book_id": book_id,
        "source_file": record.source_file,
        "file_hash": record.file_hash,
        "version": record.version,
        "source": record.source,
        "chunk_ids": to_json(NAMES, record.chunk_ids),
        "ingested_at": to_time(record.ingested_at),
        "module": record.module,
        "chapter": record.chapter,
        "lesson": record.lesson,
    }


def record_from_row(row: Row) -> IngestionRecord:
    return IngestionRecord(
        source_file=row["source_file"],
        file_hash=row["file_hash"],
        version=row["version"],
        source=row["source"],
        chunk_ids=from_json(NAMES, row["chunk_ids"]),
        ingested_at=from_time(row["ingested_at"]),
        module=row["module"],
        chapter=row["chapter"],
        lesson=row["lesson"],
    )
