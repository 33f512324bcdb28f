"""footnote books · jobs: what is there, read from the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from rich.table import Table

from adapters.web.documents.values import Document, book_document, job_document
from bot.commands.ingest import summary
from bot.door import own_folder
from bot.output import counted, print_json, terminal
from bot.settings import read_settings
from rag_core.storage.books import Books
from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.jobs import Jobs

NO_BOOKS = "No books yet: footnote ingest PATH --book ID makes one."


async def list_books(*, as_json: bool) -> int:
    async with own_database() as database:
        rows = [book_document(book) for book in await Books(database).all()]
    show("books", rows, book_told, as_json=as_json, empty=NO_BOOKS)
    return 0


async def list_jobs(*, as_json: bool) -> int:
    async with own_database() as database:
        rows = [job_document(job) for job in await Jobs(database).recent()]
    show("jobs", rows, job_told, as_json=as_json, empty="Nothing was ingested yet.")
    return 0


@asynccontextmanager
async def own_database() -> AsyncIterator[Database]:
    settings = read_settings()
    own_folder(settings.data_dir)
    async with open_database(settings.database) as database:
        yield database


def show(
    name: str,
    rows: Sequence[Document],
    told: Callable[[Document], str],
    *,
    as_json: bool,
    empty: str,
) -> None:
    """All of them in one document, or each in a few lines of its own."""
    if as_json:
        print_json({name: rows})
    elif not rows:
        terminal().print(empty)
    else:
        terminal().print("\n".join(map(told, rows)), soft_wrap=True)


def book_told(book: Document) -> str:
    times = [time for time in (book["last_full_ingest"], book["last_incremental_update"]) if time]
    read = f"read {minute(max(times))}" if times else "not read yet"
    return (
        f"{book['book_id']}  {book['title']}\n"
        f"  {counted(book['files'], 'file')}, {counted(book['chunks'], 'passage')},"
        f" {book['embedding_model']}; {read}"
    )


def job_told(job: Document) -> str:
    begun = minute(job["started_at"]) if job["started_at"] else "not begun"
    return f"{begun}  {summary(job)}\n  {job['mode']}, {job['job_id']}"


def minute(time: str) -> str:
    """A time of a document as people read it."""
    return f"{datetime.fromisoformat(time).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The columns of the first row; what is too long for the screen goes on below."""
    made = Table()
    for name in rows[0]:
        made.add_column(name, overflow="fold")
    for row in rows:
        made.add_row(*("" if value is None else str(value) for value in row.values()))
    return made
