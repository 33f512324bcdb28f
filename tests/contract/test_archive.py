"""What a database holds can be taken along, from either engine onto either engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rag_core.desk.outgoing import PartState
from rag_core.errors import StorageError
from rag_core.storage.engines.archive import dump, load
from rag_core.storage.engines.database import open_database
from rag_core.storage.engines.version import HEAD
from tests.builders import a_key
from tests.contract.conftest import ENGINES
from tests.contract.desk_work import LEASE, DeskWork
from tests.peers.postgres import PostgresServer


@pytest.fixture(params=ENGINES)
async def other_url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """An empty database of an engine that may be the other one."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/other/footnote.db"
        return
    server: PostgresServer = request.getfixturevalue("server")
    name = await server.create()
    yield server.url(name)
    await server.drop(name)


async def lines_of(url: str) -> list[str]:
    return [line async for line in dump(url)]


async def test_a_thread_goes_on_in_the_other_database(empty_url: str, other_url: str) -> None:
    async with open_database(empty_url) as database:
        work = DeskWork(database)
        before = await work.open()
        await work.exchange()
        lines = await lines_of(empty_url)

    await load(other_url, lines, revision=HEAD, rows=len(lines))

    async with open_database(other_url) as database:
        work = DeskWork(database)
        assert (await work.open()).session_id == before.session_id
        # New rows get numbers of their own.
        another = await work.open(a_key("another"))
        assert another.session_id != before.session_id


async def test_what_was_open_is_free_and_is_looked_up_before_it_is_posted(
    empty_url: str, other_url: str
) -> None:
    async with open_database(empty_url) as database:
        work = DeskWork(database)
        await work.open()
        await work.accept()
        await work.settle((await work.claim()).question_id)
        lines = await lines_of(empty_url)

    await load(other_url, lines, revision=HEAD, rows=len(lines))

    async with open_database(other_url) as database:
        claim = await DeskWork(database).ledger.claim(worker="new host", lease=LEASE)
    assert claim is not None
    assert claim.attempt > 1
    assert [part.state for part in claim.parts] == [PartState.POSTING]


async def test_a_database_that_holds_something_is_left_alone(
    empty_url: str, other_url: str
) -> None:
    async with open_database(empty_url) as database:
        await DeskWork(database).open()
        lines = await lines_of(empty_url)
    await load(other_url, lines, revision=HEAD, rows=len(lines))

    with pytest.raises(StorageError, match="already holds"):
        await load(other_url, lines, revision=HEAD, rows=len(lines))

    assert sorted(await lines_of(other_url)) == sorted(lines)


async def test_of_a_dump_that_lacks_a_row_nothing_is_loaded(empty_url: str, other_url: str) -> None:
    async with open_database(empty_url) as database:
        await DeskWork(database).open()
        lines = await lines_of(empty_url)

    with pytest.raises(StorageError, match="should hold"):
        await load(other_url, lines[:-1], revision=HEAD, rows=len(lines))

    assert await lines_of(other_url) == []
