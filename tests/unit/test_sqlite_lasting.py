"""What waits for the disk, and what follows from it and need not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text

from rag_core.storage.engines.database import open_database
from rag_core.storage.engines.engine import Transaction
from rag_core.storage.engines.statement import Statement

HOW = Statement(text("PRAGMA synchronous"))
NORMAL, FULL = 1, 2


async def how(transaction: Transaction) -> int:
    return int((await transaction.rows(HOW))[0]["synchronous"])


async def test_notes_do_not_wait_for_the_disk_and_all_else_does(tmp_path: Path) -> None:
    async with open_database(f"sqlite:///{tmp_path / 'a.db'}") as database:
        assert await database.write(how) == FULL
        assert (await database.note(HOW))[0]["synchronous"] == NORMAL
        assert (await database.run(HOW))[0]["synchronous"] == FULL
        assert await database.write(how, lasting=False) == NORMAL
        assert await database.write(how) == FULL


@pytest.mark.parametrize("steps", range(6))
async def test_a_note_that_is_cancelled_leaves_the_next_commit_lasting(
    steps: int, tmp_path: Path
) -> None:
    async with open_database(f"sqlite:///{tmp_path / 'a.db'}") as database:
        assert await database.write(how) == FULL
        noting = asyncio.create_task(database.note(HOW))
        for _ in range(steps):
            await asyncio.sleep(0)
        noting.cancel()
        await asyncio.gather(noting, return_exceptions=True)
        assert await database.write(how) == FULL
