"""Used tickets kept in memory, by a clock of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime


class MemoryTickets:
    """Forgets a ticket when its time has run out, as the database does."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._until: dict[str, datetime] = {}

    async def use_once(self, ticket: str, *, until: datetime) -> bool:
        self._forget()
        is_first = ticket not in self._until
        self._until.setdefault(ticket, until)
        return is_first

    async def used(self) -> int:
        self._forget()
        return len(self._until)

    def _forget(self) -> None:
        now = self._clock()
        self._until = {name: until for name, until in self._until.items() if until >= now}
