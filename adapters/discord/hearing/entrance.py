"""The way of messages to the desk: so many at once, and each before what is done to it later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from rag_core.errors import DeskFull

AT_THE_DESK = 250
"""Messages that are handed in at once. The others stand in line, where the desk would turn some of
a crowd away: Discord does not deliver twice."""
LONGEST_LINE = 10_000
"""Messages on their way at once. More would only grow in memory while the desk writes nothing."""


class Entrance:
    """Knows which messages are on their way, and lets them in one behind the other."""

    def __init__(self, *, at_once: int = AT_THE_DESK, longest_line: int = LONGEST_LINE) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._longest_line = longest_line
        self._coming: dict[str, asyncio.Event] = {}

    @contextmanager
    def coming(self, message_id: str) -> Iterator[None]:
        """From when a message is heard until the desk has it, or will not have it."""
        through = self._coming.setdefault(message_id, asyncio.Event())
        try:
            yield
        finally:
            self._coming.pop(message_id, None)
            through.set()

    async def has_come(self, message_id: str) -> None:
        """Wait for a message that is edited, deleted or taken back while it is on its way."""
        if (through := self._coming.get(message_id)) is not None:
            await through.wait()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A place at the desk, for one try: who pauses after a failure gives it to another."""
        if len(self._coming) > self._longest_line:
            raise DeskFull("Too many questions arrive at once. Please ask again in a moment.")
        async with self._turns:
            yield
