"""SQLite through aiosqlite: one writer, one reader, and transactions that survive cancellation."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar, cast

import aiosqlite
from sqlalchemy import make_url

from rag_core.errors import ConfigurationError, StorageError
from rag_core.storage.engines.clock import STEADY, steady_seconds_from_now
from rag_core.storage.engines.engine import Row, Transaction
from rag_core.storage.engines.migration import bring_up_to_date
from rag_core.storage.engines.sqlite_errors import is_locked, sqlite_errors
from rag_core.storage.engines.statement import Statement
from rag_core.storage.engines.version import is_up_to_date

Result = TypeVar("Result")

BUSY_SECONDS = 30.0
"""How long another process (a command beside the bot) may hold the database."""
UNLIMITED = 2**32 - 2
"""Pages: as many as SQLite can count."""
SCRUB_SECONDS = 0.2
LOOK_SECONDS = 0.05
OLDEST_SQLITE = (3, 35, 0)
READ_PRAGMAS = ("query_only=ON",)
WRITE_PRAGMAS = ("foreign_keys=ON", "secure_delete=ON")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFile:
    """What an address says of a database file."""

    path: Path
    busy_seconds: float = BUSY_SECONDS
    max_page_count: int = UNLIMITED


class SqliteTransaction:
    """Statements on a connection that has a transaction open, used in the connection's thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def rows(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        return self._connection.execute(*statement.for_sqlite(values)).fetchall()

    async def many(self, statement: Statement, values: Sequence[Mapping[str, Any]], /) -> None:
        if values:
            bound = [statement.for_sqlite(each) for each in values]
            self._connection.executemany(bound[0][0], [each for _, each in bound])


class Writer:
    """The connection that writes. Whatever it is given runs in its thread in one piece, so that a
    transaction costs one trip there however many statements it has."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection
        self._lasts: bool | None = None
        """Whether commits wait for the disk; None: not known."""

    async def do(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Once this is begun it is done, even when the caller is cancelled."""
        # aiosqlite's public methods take one statement each to its thread.
        in_thread: Any = self._connection
        return cast(Result, await in_thread._execute(lambda: work(in_thread._conn)))

    async def run(self, text: str, values: Mapping[str, Any], *, lasting: bool) -> Sequence[Row]:
        """One statement, which is a transaction of its own."""

        def work(connection: sqlite3.Connection) -> Sequence[Row]:
            self._make_last(connection, lasting)
            return connection.execute(text, values).fetchall()

        return await self.do(work)

    async def transact(
        self, body: Callable[[Transaction], Awaitable[Result]], *, lasting: bool
    ) -> Result:
        def work(connection: sqlite3.Connection) -> Result:
            self._make_last(connection, lasting)
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = result_of(body(SqliteTransaction(connection)))
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()  # does nothing where SQLite has done so itself (a full disk)
                raise
            return result

        return await self.do(work)

    def _make_last(self, connection: sqlite3.Connection, lasting: bool) -> None:
        """Whether the next commit waits until the disk has it, and all that was written before.

        The log is kept in order either way: no later commit outlives an earlier one."""
        if lasting is not self._lasts:
            connection.execute(f"PRAGMA synchronous={'FULL' if lasting else 'NORMAL'}")
            self._lasts = lasting


def result_of(body: Awaitable[Result]) -> Result:
    """What a coroutine returns that awaits nothing but statements, which are done at once."""
    steps = body.__await__()
    try:
        next(steps)
    except StopIteration as end:
        return cast(Result, end.value)
    steps.close()
    raise RuntimeError("A transaction may await nothing but its own statements.")


class SqliteDatabase:
    """A database file that one process writes through one connection."""

    def __init__(self, file: DatabaseFile, *, writer: Writer, reader: aiosqlite.Connection) -> None:
        self._path = file.path
        self._busy_seconds = file.busy_seconds
        self._writer = writer
        self._reader = reader

    async def rows(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        with sqlite_errors(self._path):
            return await fetch(self._reader, *statement.for_sqlite(values))

    async def run(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        with sqlite_errors(self._path):
            return await self._writer.run(*statement.for_sqlite(values), lasting=True)

    async def note(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        with sqlite_errors(self._path):
            return await self._writer.run(*statement.for_sqlite(values), lasting=False)

    async def write(
        self, body: Callable[[Transaction], Awaitable[Result]], /, *, lasting: bool = True
    ) -> Result:
        with sqlite_errors(self._path):
            return await self._writer.transact(body, lasting=lasting)

    async def scrub(self) -> None:
        """Rewrite the file and empty the write-ahead log, which holds pages as they were.

        `secure_delete` alone is not enough: where a page of the tree was split, the part that
        moved to its neighbour stays behind as bytes that no table knows of any more."""
        with sqlite_errors(self._path):
            await self._writer.run("VACUUM", {}, lasting=True)
            for _ in range(1 + int(self._busy_seconds / SCRUB_SECONDS / 2)):
                if await self._writer.do(self._checkpoint):
                    return
                await asyncio.sleep(SCRUB_SECONDS)  # writers go on meanwhile
        raise StorageError(
            "It is deleted, but another program reads the database, and until that ends the disk"
            " still holds old copies."
        )

    def _checkpoint(self, connection: sqlite3.Connection) -> bool:
        """Whether the log could be emptied; it cannot while others read from it."""
        connection.execute(f"PRAGMA busy_timeout={SCRUB_SECONDS * 1000:.0f}")
        try:
            done = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute(f"PRAGMA busy_timeout={self._busy_seconds * 1000:.0f}")
        return not done["busy"]


async def fetch(
    connection: aiosqlite.Connection, text: str, values: Mapping[str, Any] | None = None
) -> Sequence[Row]:
    """Run one statement with one trip to the connection's thread."""
    return cast(Sequence[Row], await connection.execute_fetchall(text, values or {}))


@asynccontextmanager
async def open_sqlite(url: str) -> AsyncIterator[SqliteDatabase]:
    """Open a database file, made and brought up to date if need be."""
    file = file_named(url)
    with sqlite_errors(file.path):
        make_private(file.path)
        # Where a file cannot be opened, aiosqlite leaves a thread behind that may outlive the
        # event loop; so that is found out without one.
        sqlite3.connect(file.path).close()
    limit = f"max_page_count={file.max_page_count}"
    async with connection(file, (*WRITE_PRAGMAS, limit)) as writer:
        with sqlite_errors(file.path):
            await write_to_a_log(writer, within=file.busy_seconds)
            if not is_up_to_date(await versions(writer)):
                await bring_up_to_date(f"sqlite+aiosqlite:///{file.path}")
        async with connection(file, READ_PRAGMAS) as reader:
            yield SqliteDatabase(file, writer=Writer(writer), reader=reader)


@asynccontextmanager
async def connection(
    file: DatabaseFile, pragmas: Sequence[str]
) -> AsyncIterator[aiosqlite.Connection]:
    """A connection that leaves beginning and committing to us."""
    with sqlite_errors(file.path):
        opened = await aiosqlite.connect(file.path, timeout=file.busy_seconds, isolation_level=None)
    try:
        opened.row_factory = sqlite3.Row
        with sqlite_errors(file.path):
            # The same for the whole of a statement, as SQLite's own idea of now is.
            await opened.create_function(STEADY, 1, steady_seconds_from_now, deterministic=True)
            for pragma in pragmas:
                await fetch(opened, f"PRAGMA {pragma}")
        yield opened
    finally:
        await opened.close()


async def write_to_a_log(connection: aiosqlite.Connection, *, within: float) -> None:
    """Have changes go to a log beside the file first, so that readers read on meanwhile.

    Of processes that do so to a new file at once, SQLite lets only one wait for the other."""
    until = monotonic() + within
    done = False
    while not done:
        try:
            done = bool(await fetch(connection, "PRAGMA journal_mode=WAL"))
        except sqlite3.OperationalError as error:
            if not is_locked(error) or monotonic() > until:
                raise
            await asyncio.sleep(LOOK_SECONDS)


async def versions(connection: aiosqlite.Connection) -> list[str]:
    """The schema versions that the file says it has: none in a new file."""
    known = await fetch(
        connection, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'"
    )
    if not known:
        return []
    return [row["version_num"] for row in await fetch(connection, "SELECT * FROM alembic_version")]


def file_named(url: str) -> DatabaseFile:
    """The file that the address names, `?timeout=` and `?max_page_count=` included."""
    address = make_url(url)
    if not address.database or address.database == ":memory:":
        raise ConfigurationError("DATABASE_URL names no file; write sqlite:///path/footnote.db.")
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        wanted = ".".join(str(number) for number in OLDEST_SQLITE)
        raise StorageError(
            f"This Python has SQLite {sqlite3.sqlite_version}; Footnote needs {wanted} or newer."
        )
    options = {name: str(value) for name, value in address.query.items()}
    try:
        return DatabaseFile(
            path=Path(address.database),
            busy_seconds=float(options.pop("timeout", BUSY_SECONDS)),
            max_page_count=int(options.pop("max_page_count", UNLIMITED)),
        )
    except ValueError as error:
        raise ConfigurationError("DATABASE_URL has an option that is not a number.") from error


def make_private(path: Path) -> None:
    """Make the folder, and the file readable by its owner only; SQLite's other files follow it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.touch(mode=0o600)
