"""PostgreSQL through asyncpg, for several hosts on one database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from sqlalchemy import make_url

from rag_core.errors import ConfigurationError, StorageError, StorageFull
from rag_core.storage.engines.engine import Row, Transaction
from rag_core.storage.engines.migration import bring_up_to_date
from rag_core.storage.engines.statement import Statement
from rag_core.storage.engines.version import is_up_to_date

try:
    import asyncpg  # type: ignore[import-untyped]  # it ships no types
except ImportError as error:
    raise ConfigurationError(
        "DATABASE_URL names PostgreSQL, whose driver is not installed:"
        " pip install 'footnote-bot[postgres]'."
    ) from error

Result = TypeVar("Result")

MAX_CONNECTIONS = 10
CONNECT_SECONDS = 10.0
COMMAND_SECONDS = 30.0


UNREACHABLE = "The database does not answer. Check DATABASE_URL and that the server runs."
# asyncpg's own client error is what a statement meets on a connection that is being cut.
LOST_CONNECTION = (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)
DISK_FULL = "53100"
SENTENCES = {
    "08": UNREACHABLE,
    "57": UNREACHABLE,
    "28": "The database server does not let the user of DATABASE_URL in. Check name and password.",
    "3D000": "The database that DATABASE_URL names does not exist. Create it on the server.",
    "42501": "The user of DATABASE_URL lacks a right in the database. Make it the owner.",
    "25006": "The database server accepts no writing at present.",
    "53": "The database server has no connection or memory left. Try again, or give it more.",
}


class PostgresTransaction:
    """Statements on the connection that has a transaction open."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def rows(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        text, ordered = statement.for_postgres(values)
        found: Sequence[Row] = await self._connection.fetch(text, *storable(ordered))
        return found

    async def many(self, statement: Statement, values: Sequence[Mapping[str, Any]], /) -> None:
        if values:
            bound = [statement.for_postgres(each) for each in values]
            await self._connection.executemany(bound[0][0], [storable(each) for _, each in bound])


class PostgresDatabase:
    """A database that several processes may share."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._writing: set[asyncio.Task[Any]] = set()

    async def rows(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        with postgres_errors():
            async with self._pool.acquire(timeout=COMMAND_SECONDS) as connection:
                return await PostgresTransaction(connection).rows(statement, **values)

    async def run(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        return await self.write(lambda transaction: transaction.rows(statement, **values))

    async def note(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        """As lasting as all else: the server writes many transactions down at once."""
        return await self.run(statement, **values)

    async def write(
        self, body: Callable[[Transaction], Awaitable[Result]], /, *, lasting: bool = True
    ) -> Result:
        with postgres_errors():
            connection = await self._pool.acquire(timeout=COMMAND_SECONDS)
        # Cancelled until here, nothing has begun.
        task = asyncio.ensure_future(self._transact(connection, body))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        return await asyncio.shield(task)

    async def _transact(
        self, connection: Any, body: Callable[[Transaction], Awaitable[Result]]
    ) -> Result:
        with postgres_errors():
            try:
                async with connection.transaction():
                    return await body(PostgresTransaction(connection))
            finally:
                await self._pool.release(connection)

    async def scrub(self) -> None:
        """Nothing to do: what PostgreSQL keeps of deleted rows is the server's to vacuum."""

    async def finish(self) -> None:
        """Wait until the transactions that are being written have ended."""
        while self._writing:
            await asyncio.wait(self._writing)


def storable(values: Sequence[Any]) -> list[Any]:
    """PostgreSQL has no place for a NUL in text; JSON escapes it, names and titles lose it."""
    return [
        value.replace("\x00", "\ufffd") if isinstance(value, str) and "\x00" in value else value
        for value in values
    ]


@asynccontextmanager
async def open_postgres(url: str) -> AsyncIterator[PostgresDatabase]:
    """Connect to a server and bring its database up to date if need be."""
    address = make_url(url)
    plain = address.set(drivername="postgresql").render_as_string(hide_password=False)
    with postgres_errors():
        pool = await asyncpg.create_pool(
            plain,
            min_size=1,
            max_size=MAX_CONNECTIONS,
            timeout=CONNECT_SECONDS,
            command_timeout=COMMAND_SECONDS,
        )
    try:
        with postgres_errors():
            if not is_up_to_date(await versions(pool)):
                through = address.set(drivername="postgresql+asyncpg")
                await bring_up_to_date(through.render_as_string(hide_password=False))
        database = PostgresDatabase(pool)
        try:
            yield database
        finally:
            await database.finish()
    finally:
        await pool.close()


async def versions(pool: Any) -> list[str]:
    """The schema versions that the database says it has: none in a new one."""
    if not await pool.fetchval("SELECT to_regclass('alembic_version') IS NOT NULL"):
        return []
    return [row["version_num"] for row in await pool.fetch("SELECT * FROM alembic_version")]


@contextmanager
def postgres_errors() -> Iterator[None]:
    """Turn what the server or the way to it reports into a StorageError."""
    try:
        yield
    except asyncpg.PostgresError as error:
        raise explained(error) from error
    except LOST_CONNECTION as error:
        raise StorageError(UNREACHABLE) from error
    except UnicodeEncodeError as error:
        raise StorageError("The text holds characters that no database can store.") from error


def explained(error: asyncpg.PostgresError) -> StorageError:
    """The sentence for an error, by its code or the class that its first two letters name."""
    code = error.sqlstate or ""
    if code == DISK_FULL:
        return StorageFull(
            "The database server has no space left. Nothing was written; free some space there."
        )
    sentence = SENTENCES.get(code) or SENTENCES.get(code[:2])
    return StorageError(sentence or f"The database refused ({code}).")
