"""What opens a door only once, and was used: by its hash, for as long as it would open it."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from sqlalchemy import bindparam, delete, func, select

from rag_core.storage import schema
from rag_core.storage.engines.codec import to_time
from rag_core.storage.engines.engine import Database, Transaction
from rag_core.storage.engines.statement import Statement, insert_once

used_tickets = schema.used_tickets
USE = insert_once(used_tickets, returning="digest")
TIDY = Statement(delete(used_tickets).where(used_tickets.c.until < bindparam("now")))
COUNT = Statement(
    select(func.count().label("used")).where(used_tickets.c.until >= bindparam("now"))
)


class UsedTickets:
    """Remembers tickets across restarts, and for every process on the same database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def use_once(self, ticket: str, *, until: datetime) -> bool:
        """Whether nobody has used this ticket before; it is remembered until then."""
        digest = hashlib.sha256(ticket.encode()).hexdigest()

        async def body(transaction: Transaction) -> bool:
            await transaction.rows(TIDY, now=to_time(datetime.now(UTC)))
            return bool(await transaction.rows(USE, digest=digest, until=to_time(until)))

        return await self._database.write(body)

    async def used(self) -> int:
        """How many tickets are remembered."""
        rows = await self._database.rows(COUNT, now=to_time(datetime.now(UTC)))
        return int(rows[0]["used"])
