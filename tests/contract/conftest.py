"""Both engines for every test of the contract: a fresh, migrated database each time."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from rag_core.storage.database import Database, open_database
from tests.peers.postgres import PostgresServer, postgres_server

ENGINES = ("sqlite", "postgres")


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as running:
        yield running


@pytest.fixture(scope="session")
def templates() -> dict[str, str]:
    """A migrated database of each engine, made by the first test that needs it."""
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
async def url(
    engine: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    templates: dict[str, str],
) -> AsyncIterator[str]:
    """The address of a database that is up to date and empty."""
    if engine == "sqlite":
        if engine not in templates:
            templates[engine] = str(tmp_path_factory.mktemp("template") / "footnote.db")
            async with open_database(f"sqlite+aiosqlite:///{templates[engine]}"):
                pass
        shutil.copy(templates[engine], tmp_path / "footnote.db")
        yield f"sqlite+aiosqlite:///{tmp_path}/footnote.db"
        return
    server: PostgresServer = request.getfixturevalue("server")
    if engine not in templates:
        templates[engine] = await server.create()
        async with open_database(server.url(templates[engine])):
            pass
    name = await server.create(like=templates[engine])
    yield server.url(name)
    await server.drop(name)


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    async with open_database(url) as opened:
        yield opened
