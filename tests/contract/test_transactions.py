"""Transactions: all or nothing, whoever is cancelled and whatever else goes on."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import sys
import threading
import time
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import func, select

from rag_core.errors import InvalidQuestion
from rag_core.storage import schema
from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.engines.engine import Transaction
from rag_core.storage.engines.statement import Statement
from rag_core.storage.markers import SET, Markers
from tests.builders import a_key, a_question, a_turn
from tests.contract.desk_work import WORKER, DeskWork

FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
CALLERS = 2_000 if FULL else 200
BACKUP_SECONDS = 60.0 if FULL else 3.0
WRITERS = 200
SEED = 20261118
NAMES = Statement(select(schema.markers.c.name))


async def add(transaction: Transaction, name: str) -> None:
    await transaction.rows(SET, name=name, value="x", updated_at="2026-01-01")


async def names(database: Database) -> set[str]:
    return {row["name"] for row in await database.rows(NAMES)}


async def some_cancelled(calls: list[Awaitable[Any]]) -> int:
    """Run these at once and cancel half of them at random moments; how many were cut.

    Each caller that ends sees to it that another one is cut soon after, so that the cuts fall
    into transactions and into the waiting for one, however fast the machine is."""
    chance = random.Random(SEED)
    tasks = [asyncio.ensure_future(call) for call in calls]
    victims = chance.sample(tasks, len(tasks) // 2)
    cutters = []

    async def cut() -> None:
        for _ in range(chance.randrange(40)):
            await asyncio.sleep(0)
        while victims and victims[-1].done():
            victims.pop()
        if victims:
            victims.pop().cancel()

    def ended(_: object) -> None:
        cutters.append(asyncio.create_task(cut()))

    for task in tasks:
        task.add_done_callback(ended)
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.gather(*cutters)
    wrong = [end for end in ends if isinstance(end, BaseException) and not is_cancelled(end)]
    assert not wrong
    return sum(is_cancelled(end) for end in ends)


def is_cancelled(error: object) -> bool:
    return isinstance(error, asyncio.CancelledError)


async def nothing_is_left_open(engine: str, url: str, database: Database) -> None:
    """No task, no transaction and no lock but those of the test itself."""
    await database.write(lambda transaction: add(transaction, "still works"))
    assert asyncio.all_tasks() == {asyncio.current_task()}
    if engine == "sqlite":
        with sqlite3.connect(url.partition(":///")[2], timeout=0) as other:
            other.execute("BEGIN EXCLUSIVE")
        other.close()
        return
    connection = await asyncpg.connect(url)
    try:
        open_ones = await connection.fetch(
            "SELECT state, query FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND xact_start IS NOT NULL"
        )
        assert not open_ones
    finally:
        await connection.close()


async def test_an_error_undoes_the_whole_transaction_and_comes_out_as_it_is(
    database: Database,
) -> None:
    async def body(transaction: Transaction) -> None:
        await add(transaction, "first")
        raise InvalidQuestion("field", "No.")

    with pytest.raises(InvalidQuestion):
        await database.write(body)
    assert await names(database) == set()


class Pause:
    """Holds a transaction open: one of SQLite's runs in a thread, of PostgreSQL's in the loop."""

    def __init__(self, engine: str) -> None:
        self._is_in_a_thread = engine == "sqlite"
        self._loop = asyncio.get_running_loop()
        self._over = threading.Event()
        self.begun = asyncio.Event()

    async def take(self) -> None:
        self._loop.call_soon_threadsafe(self.begun.set)
        if self._is_in_a_thread:
            assert self._over.wait(timeout=10)
        else:
            assert await asyncio.to_thread(self._over.wait, 10)

    def end(self) -> None:
        self._over.set()


async def test_readers_do_not_wait_for_the_writer_and_see_what_is_committed(
    engine: str, database: Database
) -> None:
    pause = Pause(engine)

    async def body(transaction: Transaction) -> None:
        await add(transaction, "new")
        await pause.take()

    writing = asyncio.create_task(database.write(body))
    await pause.begun.wait()
    assert await names(database) == set()
    pause.end()
    await writing
    assert await names(database) == {"new"}


async def test_what_was_begun_is_finished_when_its_caller_goes_and_before_the_database_closes(
    engine: str, url: str
) -> None:
    pause = Pause(engine)

    async def body(transaction: Transaction) -> None:
        await add(transaction, "first")
        await pause.take()
        await add(transaction, "second")

    async with open_database(url) as database:
        caller = asyncio.create_task(database.write(body))
        await pause.begun.wait()
        caller.cancel()
        with suppress(asyncio.CancelledError):
            await caller
        asyncio.get_running_loop().call_later(0.05, pause.end)
    async with open_database(url) as database:
        assert await names(database) == {"first", "second"}


async def test_pairs_are_whole_when_half_of_their_writers_are_cancelled(
    engine: str, url: str
) -> None:
    threads_before = set(threading.enumerate())

    async def pair(database: Database, number: int) -> None:
        async def body(transaction: Transaction) -> None:
            await add(transaction, f"{number}-a")
            await add(transaction, f"{number}-b")

        await database.write(body)
        await database.rows(NAMES)

    async with open_database(url) as database:
        calls: list[Awaitable[None]] = [pair(database, number) for number in range(CALLERS)]
        cut = await some_cancelled(calls)
        found = await names(database)
        assert {n.removesuffix("-a") for n in found if n.endswith("-a")} == {
            n.removesuffix("-b") for n in found if n.endswith("-b")
        }
        assert cut > CALLERS // 4, "too few were cut for this to say anything"
        assert len(found) >= CALLERS, "those that were not cancelled are all there"
        await nothing_is_left_open(engine, url, database)
    for thread in set(threading.enumerate()) - threads_before:
        thread.join(timeout=5)  # closing has told it to end; its last instructions may still run
        assert not thread.is_alive()


async def test_settlements_are_whole_when_half_of_their_workers_are_cancelled(
    engine: str, url: str
) -> None:
    async with open_database(url) as database:
        desk = DeskWork(database)
        turns = {}
        for number in range(CALLERS // 10):
            key = a_key(f"thread-{number}")
            session = (await desk.open(key)).session_id
            question_id = await desk.accept(a_question(key=key))
            await desk.claim()
            turns[question_id] = a_turn(session)
        calls: list[Awaitable[Any]] = [desk.settle(q, turn=turn) for q, turn in turns.items()]
        await some_cancelled(calls)
        settled = 0
        for question_id, turn in turns.items():
            state = await desk.conversations.find(turn.session_id)
            assert state is not None
            response = await desk.ledger.response_to(question_id)
            assert state.turn_count == len(state.messages) // 2 == (response is not None)
            settled += state.turn_count
        for table in (schema.answers, schema.turns, schema.parts, schema.citations):
            counted = await database.rows(
                Statement(select(func.count().label("n")).select_from(table))
            )
            assert counted[0]["n"] == settled
        assert settled >= len(turns) // 2
        await desk.ledger.release(worker=WORKER)
        await nothing_is_left_open(engine, url, database)


BACKUPS = """
import sqlite3, sys, os
source, target, stop = sys.argv[1:]
made = 0
while not os.path.exists(stop) or not made:
    reader, copy = sqlite3.connect(source, timeout=30), sqlite3.connect(target)
    reader.backup(copy, pages=64)
    assert copy.execute("PRAGMA quick_check").fetchone() == ("ok",)
    reader.close(), copy.close()
    made += 1
print(made)
"""


async def test_two_hundred_writers_beside_backups_by_another_process(tmp_path: Path) -> None:
    source, target, stop = tmp_path / "footnote.db", tmp_path / "copy.db", tmp_path / "stop"
    async with open_database(f"sqlite+aiosqlite:///{source}") as database:
        markers = Markers(database)
        backups = await asyncio.create_subprocess_exec(
            sys.executable, "-c", BACKUPS, source, target, stop, stdout=asyncio.subprocess.PIPE
        )
        end = time.monotonic() + BACKUP_SECONDS

        async def write(writer: int) -> int:
            written = 0
            while time.monotonic() < end:
                await markers.set(f"writer-{writer}", str(written))
                written += 1
            return written

        counts = await asyncio.gather(*(write(number) for number in range(WRITERS)))
        stop.touch()
        printed, _ = await backups.communicate()
        assert backups.returncode == 0
        assert int(printed) >= 1
        for number, count in enumerate(counts):
            assert await markers.get(f"writer-{number}") == str(count - 1)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_transaction_that_awaits_something_else_is_refused_and_undone(
    database: Database,
) -> None:
    async def body(transaction: Transaction) -> None:
        await add(transaction, "first")
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="its own statements"):
        await database.write(body)
    assert await names(database) == set()
