"""What a database says of itself: version, size, and who is in whose way."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url

from rag_core.storage.engines.sqlite_errors import LOCKED, PRIMARY, damaged, sqlite_errors

LOCK_SECONDS = 2.0
"""So long a lock may be held before it is told: our own writes take milliseconds."""
CHECK_SECONDS = 3.0
"""So long a file is gone through for damaged pages: a gigabyte takes half a second where the system
has it in memory."""
CONNECT_SECONDS = 8.0
NEARLY_ALL = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """One look at a database; it was not changed."""

    engine: str
    version: str
    size: int
    """Bytes; 0: there is none yet."""
    trouble: str = ""
    """What is in the way, in one sentence."""


async def examined(url: str, *, patience: float = LOCK_SECONDS) -> DatabaseFacts:
    """StorageError where the database cannot be read at all; locks count after `patience`."""
    if url.startswith("sqlite"):
        return await asyncio.to_thread(sqlite_facts, Path(make_url(url).database or ""), patience)
    return await postgres_facts(url, patience)


def sqlite_facts(path: Path, patience: float) -> DatabaseFacts:
    files = [path, path.with_name(path.name + "-wal")]
    size = sum(file.stat().st_size for file in files if file.exists())
    trouble = ""
    if path.exists():
        with sqlite_errors(path), closing(opened(path, patience)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            trouble = sqlite_trouble(connection, patience)
            if not is_sound(connection):
                raise damaged(path)
    return DatabaseFacts(
        engine="SQLite", version=sqlite3.sqlite_version, size=size, trouble=trouble
    )


def opened(path: Path, patience: float) -> sqlite3.Connection:
    """A connection that makes no file where there is none."""
    address = f"{path.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None)


def sqlite_trouble(connection: sqlite3.Connection, patience: float) -> str:
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & PRIMARY in LOCKED:
            return f"another process holds the write lock for more than {patience:.0f} s"
        raise
    return ""


def is_sound(connection: sqlite3.Connection) -> bool:
    """Whether no page is damaged, as far as there is time to look."""
    try:
        with interrupted_after(CHECK_SECONDS, connection):
            (first,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & PRIMARY == sqlite3.SQLITE_INTERRUPT:
            return True
        raise
    return bool(first == "ok")


@contextmanager
def interrupted_after(seconds: float, connection: sqlite3.Connection) -> Iterator[None]:
    """By another thread: older SQLites call no progress handler while they go through pages."""
    timer = threading.Timer(seconds, connection.interrupt)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


async def postgres_facts(url: str, patience: float) -> DatabaseFacts:
    import asyncpg  # type: ignore[import-untyped]  # it ships no types

    from rag_core.storage.engines.postgres import postgres_errors

    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with postgres_errors():
        connection = await asyncpg.connect(plain, timeout=CONNECT_SECONDS)
        try:
            row = await connection.fetchrow(POSTGRES_FACTS, patience)
        finally:
            await connection.close()
    return DatabaseFacts(
        engine="PostgreSQL",
        version=row["version"].partition(" ")[0],
        size=row["size"],
        trouble=postgres_trouble(row["waiting"], row["used"], row["most"]),
    )


POSTGRES_FACTS = """
SELECT current_setting('server_version') AS version,
       pg_database_size(current_database()) AS size,
       current_setting('max_connections')::int AS most,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
       (SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND clock_timestamp() - query_start > make_interval(secs => $1)) AS waiting
"""


def postgres_trouble(waiting: int, used: int, most: int) -> str:
    if waiting:
        return f"{waiting} statements wait for a lock for more than {LOCK_SECONDS:.0f} s"
    if used > NEARLY_ALL * most:
        return f"{used} of its {most} connections are taken"
    return ""
