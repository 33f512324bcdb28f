"""The order in which an index is written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class WriteOrder:
    """One write after the other, each to its end even when its caller is cancelled."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        """Who holds it knows that nobody writes."""
        self._under_way: set[asyncio.Task[None]] = set()

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        async def in_turn() -> None:
            async with self.turn:
                await work()

        task = asyncio.create_task(in_turn())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.shield(task)

    async def ended(self) -> None:
        """Wait for what was begun."""
        while self._under_way:
            await asyncio.wait(self._under_way)
