"""The measurements fill databases that the program can read, as its schema grows."""

from __future__ import annotations

from pathlib import Path

from benchmarks.storage_filling import LONG_THREADS, fill, key_of
from rag_core.storage.conversations import Conversations
from rag_core.storage.database import open_database

THREADS = LONG_THREADS


async def test_a_filled_database_holds_threads_that_can_be_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "filled.db"
    async with open_database(f"sqlite:///{path}"):
        pass
    fill(path, threads=THREADS)

    async with open_database(f"sqlite:///{path}") as database:
        state = await Conversations(database).open(key_of(1), model="scripted", max_turns=50)

    assert state.turn_count >= 1
    assert state.messages
