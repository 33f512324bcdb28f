"""footnote books · jobs: what is there, read from the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from rich.table import Table

from adapters.web.documents import book_document, job_document
from bot.door import own_folder
from bot.output import print_json, terminal
from bot.settings import read_settings
from rag_core.storage.books import Books
from rag_core.storage.database import Database, open_database
from rag_core.storage.jobs import Jobs


async def list_books(*, as_json: bool) -> int:
    async with own_database() as database:
        rows = [book_document(book) for book in await Books(database).all()]
    show({"books": rows}, rows, as_json=as_json, empty="No books yet: footnote ingest makes one.")
    return 0


async def list_jobs(*, as_json: bool) -> int:
    async with own_database() as database:
        rows = [job_document(job) for job in await Jobs(database).recent()]
    show({"jobs": rows}, rows, as_json=as_json, empty="Nothing was ingested yet.")
    return 0


@asynccontextmanager
async def own_database() -> AsyncIterator[Database]:
    settings = read_settings()
    own_folder(settings.data_dir)
    async with open_database(settings.database) as database:
        yield database


def show(document: object, rows: Sequence[Mapping[str, Any]], *, as_json: bool, empty: str) -> None:
    if as_json:
        print_json(document)
    elif not rows:
        terminal().print(empty)
    else:
        terminal().print(table(rows))


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """All plain columns; what holds lists is left to --json."""
    names = [name for name, value in rows[0].items() if not isinstance(value, (list, dict))]
    made = Table()
    for name in names:
        made.add_column(name.replace("_", " "))
    for row in rows:
        made.add_row(*("" if row[name] is None else str(row[name]) for name in names))
    return made
