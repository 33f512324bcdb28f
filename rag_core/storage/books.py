"""The books there are."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, select

from rag_core.books.book import Book
from rag_core.storage import schema
from rag_core.storage.engines.codec import maybe_time, to_time
from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement, upsert
from rag_core.storage.staff_answers import drop_of_book

books, records, sources = schema.books, schema.ingestion_records, schema.sources
SAVE = upsert(books, on=("book_id",))
GET = Statement(select(books).where(books.c.book_id == bindparam("book_id")))
ALL = Statement(select(books).order_by(books.c.book_id))
REMOVE = Statement(delete(books).where(books.c.book_id == bindparam("book_id")))
REMOVE_SOURCES = Statement(delete(sources).where(sources.c.book_id == bindparam("book_id")))
REMOVE_RECORDS = Statement(delete(records).where(records.c.book_id == bindparam("book_id")))


class Books:
    """Books by id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, book: Book) -> None:
        full, incremental = book.last_full_ingest, book.last_incremental_update
        await self._database.run(
            SAVE,
            book_id=book.book_id,
            title=book.title,
            files=book.files,
            chunks=book.chunks,
            embedding_model=book.embedding_model,
            base_url=book.base_url,
            last_full_ingest=to_time(full) if full else None,
            last_incremental_update=to_time(incremental) if incremental else None,
        )

    async def get(self, book_id: str) -> Book | None:
        rows = await self._database.rows(GET, book_id=book_id)
        return book_from_row(rows[0]) if rows else None

    async def all(self) -> Sequence[Book]:
        return [book_from_row(row) for row in await self._database.rows(ALL)]

    async def remove(self, book_id: str) -> None:
        """Remove a book, what is known of its files, and where it is read from.

        Policies stay: a channel that was given this book must not silently read another."""

        async def body(transaction: Transaction) -> None:
            await transaction.rows(REMOVE, book_id=book_id)
            await transaction.rows(REMOVE_RECORDS, book_id=book_id)
            await transaction.rows(REMOVE_SOURCES, book_id=book_id)
            await drop_of_book(transaction, book_id)

        await self._database.write(body)


def book_from_row(row: Row) -> Book:
    return Book(
        book_id=row["book_id"],
        title=row["title"],
        files=row["files"],
        chunks=row["chunks"],
        embedding_model=row["embedding_model"],
        base_url=row["base_url"],
        last_full_ingest=maybe_time(row["last_full_ingest"]),
        last_incremental_update=maybe_time(row["last_incremental_update"]),
    )
