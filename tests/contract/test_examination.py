"""What a database says of itself, and what was used of the limits, on both engines."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import asyncpg
import pytest

from rag_core.storage.engines.codec import to_time
from rag_core.storage.engines.database import Database
from rag_core.storage.engines.examination import examined, postgres_trouble
from rag_core.storage.ledger.token_usage import ADD_TOKENS, DAY, TokenUsage


async def test_a_database_is_known_by_engine_version_and_size(url: str, engine: str) -> None:
    facts = await examined(url)
    assert facts.engine == {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
    assert facts.version[0].isdigit()
    assert facts.size > 100_000
    assert facts.trouble == ""


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_statements_that_wait_for_a_lock_are_told(url: str) -> None:
    holder, waiter = await asyncpg.connect(url), await asyncpg.connect(url)
    try:
        await holder.execute("BEGIN; LOCK TABLE books")
        waiting = asyncio.create_task(waiter.execute("DELETE FROM books"))
        async with asyncio.timeout(10):
            while not (found := (await examined(url, patience=0.05)).trouble):  # noqa: ASYNC110
                await asyncio.sleep(0.02)  # nothing tells that a statement waits
        assert "1 statements wait for a lock" in found
        await holder.execute("ROLLBACK")
        await waiting
        assert (await examined(url)).trouble == ""
    finally:
        await holder.close()
        await waiter.close()


def test_a_server_whose_connections_are_nearly_all_taken_is_in_trouble() -> None:
    assert "95 of its 100 connections" in postgres_trouble(0, 95, 100)
    assert postgres_trouble(0, 50, 100) == ""


async def test_tokens_are_counted_by_tenant_and_forgotten_after_a_day(database: Database) -> None:
    now = datetime.now(UTC)
    for tenant, hour, tokens in (("a", now, 5), ("b", now, 9), ("a", now, 6), ("c", now - DAY, 99)):
        await database.run(
            ADD_TOKENS, platform="slack", tenant=tenant, hour=to_time(hour), tokens=tokens
        )
    used = await TokenUsage(database).tokens_lately()
    assert list(used.items()) == [(("slack", "a"), 11), (("slack", "b"), 9)]
