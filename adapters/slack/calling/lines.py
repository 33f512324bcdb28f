"""Calls stand in line, one behind another, and none longer than it is worth."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class ComesLater(Exception):
    """So many seconds are longer than anybody is to stand and wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"in {seconds:.1f} s")
        self.seconds = seconds


class Lines:
    """A line for each name, as long as somebody stands in it."""

    def __init__(self) -> None:
        self._heads: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._standing: Counter[str] = Counter()

    def standing(self, name: str) -> int:
        return self._standing[name]

    @asynccontextmanager
    async def turn(
        self, name: str, pause: Callable[[int], float], *, at_most: float = math.inf
    ) -> AsyncIterator[None]:
        """The block takes the turn; ComesLater where that is further away, or becomes so.

        `pause` tells how long the turn is off for one with so many others before it."""
        head = self._heads.setdefault(name, asyncio.Lock())
        check(pause(self._standing[name]), at_most)
        self._standing[name] += 1
        try:
            async with head:
                while (wait := pause(0)) > 0:  # time alone makes room
                    check(wait, at_most)
                    await asyncio.sleep(wait)
                yield
        finally:
            self._standing[name] -= 1
            if not self._standing[name]:
                del self._standing[name]


def check(seconds: float, at_most: float) -> None:
    if seconds > at_most:
        raise ComesLater(seconds)
