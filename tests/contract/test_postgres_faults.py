"""A server that is away, refuses or goes: one clear sentence each, and then on again."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import asyncpg
import pytest

from rag_core.errors import StorageError
from rag_core.storage.engines.database import open_database
from rag_core.storage.markers import Markers
from tests.peers.postgres import PostgresServer

SECRET = "hunter2"


async def fails_to_open(url: str) -> str:
    with pytest.raises(StorageError) as refused:
        async with open_database(url):
            pass
    assert SECRET not in str(refused.value)
    return str(refused.value)


async def test_a_server_that_is_away_is_said() -> None:
    url = f"postgresql://footnote:{SECRET}@127.0.0.1:1/footnote"
    assert "does not answer" in await fails_to_open(url)


async def test_a_database_that_is_not_there_is_said(server: PostgresServer) -> None:
    assert "does not exist" in await fails_to_open(server.url("nowhere"))


async def test_a_user_who_may_not_is_said(server: PostgresServer) -> None:
    url = server.url("postgres").replace("footnote@", f"stranger:{SECRET}@")
    assert "name and password" in await fails_to_open(url)


async def test_it_goes_on_after_the_server_has_cut_every_connection(
    server: PostgresServer,
) -> None:
    name = await server.create()
    async with open_database(server.url(name)) as database:
        markers = Markers(database)
        await markers.set("before", "1")
        cut = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        )
        for _ in range(10):  # now before, now amid and now after what is written
            cutting = asyncio.create_task(server.run(cut))
            writes = [markers.set(f"during-{number}", "1") for number in range(5)]
            ends = await asyncio.gather(*writes, return_exceptions=True)
            await cutting
            assert all(end is None or isinstance(end, StorageError) for end in ends), ends
        await works_again(markers)
        assert await markers.get("before") == await markers.get("after") == "1"
    await server.drop(name)


async def works_again(markers: Markers) -> None:
    """A connection may still be on its way out when the cut has been ordered."""
    for _ in range(100):
        try:
            await markers.set("after", "1")
        except StorageError:
            await asyncio.sleep(0.02)
        else:
            return


async def test_a_server_that_accepts_no_writing_is_said(server: PostgresServer) -> None:
    name = await server.create()
    async with open_database(server.url(name)) as database:
        other = await asyncpg.connect(server.url(name))
        await other.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        await other.close()
    async with open_database(server.url(name)) as database:
        with pytest.raises(StorageError, match="accepts no writing"):
            await Markers(database).set("a", "b")
        assert await Markers(database).get("a") is None
    await server.drop(name)


def test_a_missing_driver_is_a_wrong_setting_that_says_what_to_install() -> None:
    script = (
        "import asyncio, sys\n"
        "sys.modules['asyncpg'] = None\n"
        "from rag_core.errors import ConfigurationError\n"
        "from rag_core.storage.engines.database import open_database\n"
        "async def main():\n"
        "    async with open_database('postgresql://localhost/footnote'): pass\n"
        "try: asyncio.run(main())\n"
        "except ConfigurationError as error: print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "footnote-bot[postgres]" in ran.stdout
