"""How fast the storage is beside plain aiosqlite, in one run: `python -m benchmarks.storage`.

Plain is a connection with the same settings on the same file that makes the fewest calls. Its
messages are what `json.loads` makes of them, ours are checked values; `unread` leaves them text.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

import aiosqlite

from benchmarks.storage_filling import LONG, fill, key_of, long_threads
from benchmarks.turns import in_turns, show
from rag_core.conversation.key import ConversationKey
from rag_core.storage.conversations.conversations import Conversations
from rag_core.storage.conversations.states import LOAD
from rag_core.storage.conversations.threads import key_to_row
from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.engines.engine import Transaction
from rag_core.storage.markers import SET, Markers

MESSAGES = 2 * LONG
SETTINGS = ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON", "busy_timeout=30000")
SET_MARKER = SET.for_sqlite({})[0]
OPEN_SESSION = """
SELECT sessions.id, session_id, number, model, turn_count, topic_summary, metadata, created_at,
       updated_at, archived_at
FROM threads JOIN sessions ON sessions.thread = threads.id AND sessions.closed_at IS NULL
WHERE platform = :platform AND tenant = :tenant AND channel_id = :channel_id
      AND thread_id = :thread_id"""
LAST_TURNS = "SELECT messages, retrievals FROM turns WHERE session = ? ORDER BY number DESC LIMIT ?"


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--threads", type=int, default=1_000_000)
    most = arguments.parse_args().threads
    with tempfile.TemporaryDirectory(prefix="footnote-benchmark-") as folder:
        async with filled(Path(folder) / "few.db", threads=1_000) as (database, plain):
            await commits(database, plain)
            at_few = await reads(database, plain, threads=1_000)
        async with filled(Path(folder) / "many.db", threads=most) as (database, plain):
            at_many = await reads(database, plain, threads=most)
    ratio = at_many / at_few
    print(f"the same read at {most:,} threads takes {ratio:.2f} times as long (at most 1.3)")


@asynccontextmanager
async def filled(
    path: Path, *, threads: int
) -> AsyncIterator[tuple[Database, aiosqlite.Connection]]:
    """A file with so many threads, opened by us and plainly."""
    async with open_database(f"sqlite+aiosqlite:///{path}") as database:
        began = perf_counter()
        fill(path, threads=threads)
        print(f"{threads:,} threads, made in {perf_counter() - began:.0f} s")
        async with aiosqlite.connect(path, isolation_level=None) as plain:
            for setting in SETTINGS:
                await plain.execute_fetchall(f"PRAGMA {setting}")
            yield database, plain


async def commits(database: Database, plain: aiosqlite.Connection) -> None:
    """One new row: as a statement of its own, and as a transaction."""
    markers, numbers = Markers(database), count()

    def row() -> dict[str, str]:
        return {"name": f"fact-{next(numbers)}", "value": "x" * 100, "updated_at": "2026-01-01"}

    async def plain_statement() -> None:
        await plain.execute_fetchall(SET_MARKER, row())

    async def our_statement() -> None:
        await markers.set(f"fact-{next(numbers)}", "x" * 100)

    async def plain_transaction() -> None:
        await plain.execute_fetchall("BEGIN IMMEDIATE")
        await plain.execute_fetchall(SET_MARKER, row())
        await plain.execute_fetchall("COMMIT")

    async def our_transaction() -> None:
        async def body(transaction: Transaction) -> None:
            await transaction.rows(SET, **row())

        await database.write(body)

    times = await in_turns({"plain": plain_statement, "ours": our_statement})
    show("one row, one statement", plain=times["plain"], ours=times["ours"], wanted=0.7)
    times = await in_turns({"plain": plain_transaction, "ours": our_transaction})
    show("one row, BEGIN to COMMIT", plain=times["plain"], ours=times["ours"], wanted=0.7)


async def reads(database: Database, plain: aiosqlite.Connection, *, threads: int) -> float:
    """A thread with its last twenty messages; how many seconds that takes us."""
    conversations, chance = Conversations(database), random.Random(threads)
    text, read = LOAD.for_sqlite({})[0], long_threads(threads)

    def key() -> ConversationKey:
        return key_of(chance.choice(read))

    def values() -> Mapping[str, Any]:
        return LOAD.for_sqlite({**key_to_row(key()), "turns": LONG})[1]

    async def two_queries() -> None:
        ((session, *_),) = await plain.execute_fetchall(OPEN_SESSION, key_to_row(key()))
        turns = await plain.execute_fetchall(LAST_TURNS, (session, LONG))
        messages = [message for turn, _ in turns for message in json.loads(turn)]
        assert len(messages) == MESSAGES

    async def one_query() -> None:
        rows = await plain.execute_fetchall(text, values())
        messages = [message for turn, *_ in rows for message in json.loads(turn)]
        assert len(messages) == MESSAGES

    async def unread() -> None:
        await plain.execute_fetchall(text, values())

    async def ours() -> None:
        state = await conversations.open(
            key(), model="scripted", max_turns=50, last_messages=MESSAGES
        )
        assert len(state.messages) == 1 + MESSAGES

    ways = {"two queries": two_queries, "one query": one_query, "one query, unread": unread}
    times = await in_turns({**ways, "ours": ours})
    for name in ways:
        what = f"a thread and its last 20 messages, beside {name}"
        show(what, plain=times[name], ours=times["ours"], wanted=0.5)
    return times["ours"]


if __name__ == "__main__":
    asyncio.run(main())
