"""Opens the database that an address names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rag_core.errors import ConfigurationError
from rag_core.storage.engines.engine import Database as Database  # what is opened here


@asynccontextmanager
async def open_database(url: str) -> AsyncIterator[Database]:
    """Open the database of this address, brought up to date, and close it at the end.

    Addresses are `sqlite+aiosqlite:///path/footnote.db` and `postgresql://user@host/name`."""
    scheme = url.partition("://")[0]
    if scheme in {"sqlite", "sqlite+aiosqlite"}:
        from rag_core.storage.engines.sqlite import open_sqlite

        async with open_sqlite(url) as database:
            yield database
    elif scheme in {"postgres", "postgresql", "postgresql+asyncpg"}:
        from rag_core.storage.engines.postgres import open_postgres

        async with open_postgres(url) as database:
            yield database
    else:
        raise ConfigurationError(
            f"DATABASE_URL starts with {scheme!r}; it must start with sqlite:/// or postgresql://."
        )
