"""Both engines for every test of the contract: a fresh, migrated database each time."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.schema import metadata
from tests.peers.postgres import PostgresServer, postgres_server

ENGINES = ("sqlite", "postgres")


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as running:
        yield running


@pytest.fixture(scope="session")
def migrated() -> dict[str, str]:
    """The address of a migrated database of each engine, once a test has needed it."""
    return {}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
async def empty_url(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[str]:
    """The address of a database that nobody has opened yet."""
    if engine == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path}/footnote.db"
        return
    server: PostgresServer = request.getfixturevalue("server")
    name = await server.create()
    yield server.url(name)
    await server.drop(name)


@pytest.fixture
async def migrated_url(
    engine: str,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    migrated: dict[str, str],
) -> str:
    """The address of a database that is up to date, and that a test leaves as empty as it is."""
    if engine not in migrated:
        if engine == "sqlite":
            made = f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('migrated')}/footnote.db"
        else:
            server: PostgresServer = request.getfixturevalue("server")
            made = server.url(await server.create())
        async with open_database(made):
            migrated[engine] = made
    return migrated[engine]


@pytest.fixture
async def url(engine: str, migrated_url: str, tmp_path: Path) -> AsyncIterator[str]:
    """The address of a database that is up to date, and that a test may fill."""
    if engine == "sqlite":
        shutil.copy(migrated_url.partition(":///")[2], tmp_path / "footnote.db")
        yield f"sqlite+aiosqlite:///{tmp_path}/footnote.db"
        return
    yield migrated_url
    connection = await asyncpg.connect(migrated_url)
    try:
        await connection.execute(f"TRUNCATE {', '.join(metadata.tables)} RESTART IDENTITY")
    finally:
        await connection.close()


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    async with open_database(url) as opened:
        yield opened
