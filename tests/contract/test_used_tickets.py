"""What may be used once is remembered as long as it could be used again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.used_tickets import UsedTickets


async def test_a_ticket_is_used_once_also_after_a_restart(database: Database, url: str) -> None:
    until = datetime.now(UTC) + timedelta(minutes=10)
    assert await UsedTickets(database).use_once("a", until=until)
    async with open_database(url) as opened_anew:
        tickets = UsedTickets(opened_anew)
        assert not await tickets.use_once("a", until=until)
        assert await tickets.use_once("b", until=until)


async def test_what_has_run_out_neither_counts_nor_stays(database: Database) -> None:
    tickets = UsedTickets(database)
    now = datetime.now(UTC)
    for number in range(5):
        await tickets.use_once(f"old {number}", until=now - timedelta(seconds=1))
    assert await tickets.used() == 0
    await tickets.use_once("new", until=now + timedelta(minutes=10))
    assert await tickets.used() == 1
