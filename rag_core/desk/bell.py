"""Wakes the worker when there may be something to do."""

from __future__ import annotations

import asyncio


class Bell:
    """Rung by whoever accepts a question; other processes' questions are found by looking."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        self._rung.set()

    async def wait(self, *, at_most: float) -> None:
        """Until the bell rings, or the time is up."""
        try:
            async with asyncio.timeout(at_most):
                await self._rung.wait()
        except TimeoutError:
            pass
        self._rung.clear()
