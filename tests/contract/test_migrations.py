"""The schema is brought about at start-up: forward only, once, and never downwards."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from pathlib import Path

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine

import rag_core.storage
from rag_core.books.policy import ChannelPolicy
from rag_core.conversation.key import TenantId
from rag_core.errors import SchemaTooNew
from rag_core.storage.engines.database import open_database
from rag_core.storage.engines.upgrading import migrate
from rag_core.storage.engines.version import HEAD
from rag_core.storage.markers import Markers
from rag_core.storage.policies import Policies
from rag_core.storage.schema import metadata

PROCESSES = 3
OPEN = """
import asyncio, sys
from rag_core.storage.engines.database import open_database
from rag_core.storage.markers import Markers
async def main():
    async with open_database(sys.argv[1]) as database:
        await Markers(database).set(sys.argv[2], "here")
asyncio.run(main())
"""


async def test_migrations_make_exactly_the_schema_of_the_program(migrated_url: str) -> None:
    engine = create_async_engine(migrated_url.replace("postgresql://", "postgresql+asyncpg://"))
    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()


def differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), metadata))


def test_the_newest_migration_is_the_one_that_the_program_asks_for() -> None:
    config = Config()
    folder = Path(rag_core.storage.__path__[0]) / "migrations"
    config.set_main_option("script_location", str(folder))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


async def test_processes_that_start_at_once_migrate_once(empty_url: str) -> None:
    started = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", OPEN, empty_url, f"process-{number}"
        )
        for number in range(PROCESSES)
    ]
    assert [await process.wait() for process in started] == [0] * PROCESSES
    async with open_database(empty_url) as database:
        for number in range(PROCESSES):
            assert await Markers(database).get(f"process-{number}") == "here"
    assert await version_of(empty_url) == [HEAD]


async def test_a_newer_schema_is_refused_and_left_as_it_is(url: str, engine: str) -> None:
    async with open_database(url) as database:
        await Markers(database).set("before", "1")
    await set_version(url, "9999")
    with pytest.raises(SchemaTooNew, match=r"9999.*newer"):
        async with open_database(url):
            pass
    assert await version_of(url) == ["9999"]
    await set_version(url, HEAD)
    async with open_database(url) as database:
        assert await Markers(database).get("before") == "1"


async def version_of(url: str) -> list[str]:
    return await on(url, "SELECT version_num FROM alembic_version")


async def set_version(url: str, version: str) -> None:
    await on(url, f"UPDATE alembic_version SET version_num = '{version}'")


async def on(url: str, statement: str) -> list[str]:
    """Run a statement beside the program."""
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.partition(":///")[2])
        with connection:
            rows = connection.execute(statement).fetchall()
        connection.close()
        return [row[0] for row in rows]
    other = await asyncpg.connect(url)
    try:
        return [row[0] for row in await other.fetch(statement)]
    finally:
        await other.close()


BINDINGS = {
    "": """{"book_id": "course", "further_books": ["faq"], "tone": "calm"}""",
    "T1": """{"book_id": "course"}""",
    "T2": """{"hint_only": true}""",
}


async def test_bindings_by_id_alone_are_the_operators_and_others_nobodys(
    empty_url: str, engine: str
) -> None:
    await migrated_to("0007", empty_url)
    for tenant, body in BINDINGS.items():
        await on(
            empty_url,
            "INSERT INTO policies (platform, channel_id, tenant, body)"
            f" VALUES ('slack', 'C1', '{tenant}', '{body}')",
        )
    async with open_database(empty_url) as database:
        said = {place.tenant: policy for place, policy in (await Policies(database).all()).items()}
    assert said[TenantId("")] == ChannelPolicy(tone="calm").bound_to("course", "faq")
    assert said[TenantId("T1")] == ChannelPolicy(book_id="course")
    assert said[TenantId("T2")] == ChannelPolicy(hint_only=True)


async def migrated_to(version: str, url: str) -> None:
    """A database as an earlier program left it."""
    plain = url.replace("postgresql://", "postgresql+asyncpg://")
    engine = create_async_engine(plain)
    async with engine.begin() as connection:
        await connection.run_sync(migrate, version)
    await engine.dispose()
