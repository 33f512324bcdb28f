"""All rows of a database as lines of JSON, and back: from either engine, onto either engine."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, MetaData, Table, func, insert, make_url, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from rag_core.errors import StorageError
from rag_core.storage.engines.migration import of_the_driver
from rag_core.storage.engines.sqlite import make_private

BATCH = 500
VERSION_TABLE = "alembic_version"
DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}
NOT_EMPTY = (
    "The database already holds something, and a restore never overwrites: move the data"
    " folder away, or give it an empty database (another FOOTNOTE_DATA_DIR or DATABASE_URL)."
)

Line = tuple[str, dict[str, Any]]
"""A table's name, and one of its rows."""


async def dump(url: str) -> AsyncIterator[str]:
    """Every row as it stands at one moment, whoever writes meanwhile."""
    async with connected(url) as connection:
        if connection.dialect.name == "sqlite":
            await connection.exec_driver_sql("BEGIN")
        else:
            await connection.execution_options(isolation_level="REPEATABLE READ")
        for table in await tables(connection):
            async with connection.stream(select(table)) as rows:
                async for row in rows.mappings():
                    yield json.dumps([table.name, dict(row)], ensure_ascii=False)


async def load(url: str, lines: Iterable[str], *, revision: str, rows: int) -> None:
    """Fill an empty database with the rows of a dump of this schema; all of them or nothing.

    What was open then may have been answered since: it is looked up before it is posted."""
    from rag_core.storage.engines.upgrading import migrate

    async with connected(url) as connection, connection.begin():
        await connection.run_sync(migrate, revision)
        known = {table.name: table for table in await tables(connection)}
        for table in known.values():
            if await connection.scalar(select(func.count()).select_from(table)):
                raise StorageError(NOT_EMPTY)
        total = 0
        for name, some in batches(map(parsed, lines)):
            await connection.execute(insert(known[name]), some)
            total += len(some)
        if total != rows:
            raise StorageError(f"The backup holds {total} rows and should hold {rows}.")
        await taken_up_again(connection, known)
        await connection.run_sync(counted_on, known.values())


async def tables(connection: AsyncConnection) -> list[Table]:
    """Ours, as the database has them, those that others refer to first."""
    found = MetaData()
    await connection.run_sync(found.reflect)
    return [table for table in found.sorted_tables if table.name != VERSION_TABLE]


def parsed(line: str) -> Line:
    name, row = json.loads(line)
    return name, row


def batches(lines: Iterable[Line]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The rows of one table after the other, some at a time."""
    for name, group in groupby(lines, key=lambda line: line[0]):
        while rows := [row for _, row in islice(group, BATCH)]:
            yield name, rows


async def taken_up_again(connection: AsyncConnection, known: Mapping[str, Table]) -> None:
    """Nobody holds a claim any more, and every open post may have been made after the dump."""
    threads, questions, parts = known["threads"], known["questions"], known["parts"]
    await connection.execute(update(threads).values(worker=None, lease_until=None, claimed=None))
    still_open = select(questions.c.id).where(questions.c.closed_at.is_(None))
    await connection.execute(
        update(parts)
        .where(parts.c.state == "pending", parts.c.question.in_(still_open))
        .values(state="posting")
    )
    await connection.execute(
        update(questions)
        .where(questions.c.closed_at.is_(None))
        .values(attempt=questions.c.attempt + 1)
    )


def counted_on(connection: Connection, known: Iterable[Table]) -> None:
    """PostgreSQL's counters go on after the highest number that was loaded."""
    if connection.dialect.name != "postgresql":
        return
    for table in known:
        sequence = (
            connection.scalar(select(func.pg_get_serial_sequence(table.name, "id")))
            if ("id" in table.c)
            else None
        )
        if sequence is not None:
            highest = connection.scalar(select(func.max(table.c.id)))
            if highest is not None:
                connection.execute(select(func.setval(sequence, highest)))


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[AsyncConnection]:
    """One connection of its own beside the house's."""
    engine = create_async_engine(address(url))
    try:
        async with engine.connect() as connection:
            yield connection
    except DBAPIError as error:
        raise StorageError(
            f"The database refused: {type(of_the_driver(error)).__name__}."
        ) from error
    finally:
        await engine.dispose()


def address(url: str) -> URL:
    """With the driver that SQLAlchemy shall use, and without the options that are only ours."""
    parts = make_url(url)
    engine = parts.drivername.partition("+")[0]
    named = parts.set(drivername=DRIVERS["postgresql" if engine == "postgres" else engine])
    if engine != "sqlite":
        return named
    make_private(Path(named.database or ""))
    return named.set(query={})
