"""When the next message may be posted to a channel."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from time import monotonic
from weakref import WeakValueDictionary

KEPT = 1_000
"""Channels whose time is remembered; what has passed is forgotten beyond that."""


class ComesLater(Exception):
    """So many seconds are longer than anybody is to stand and wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"in {seconds:.1f} s")
        self.seconds = seconds


class Pace:
    """Slack takes about one message a second in a channel, and says how long to wait after more."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._free_at: dict[str, float] = {}
        self._lines: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._standing: Counter[str] = Counter()

    async def turn(self, channel_id: str, *, at_most: float = math.inf) -> None:
        """Stand in line for this channel, and take its next turn; ComesLater where that is further
        away, or becomes so.

        The next turn is counted from the moment when this one is taken: whoever wakes up late on a
        busy machine would otherwise be followed too closely.
        """
        line = self._lines.setdefault(channel_id, asyncio.Lock())
        before = self._standing[channel_id]
        self._check(self._pause(channel_id) + before * self._seconds, at_most)
        self._standing[channel_id] = before + 1
        try:
            async with line:
                while (wait := self._pause(channel_id)) > 0:  # time alone makes room
                    self._check(wait, at_most)
                    await asyncio.sleep(wait)
                self._forget()
                self._free_at[channel_id] = monotonic() + self._seconds
        finally:
            self._standing[channel_id] -= 1
            if not self._standing[channel_id]:
                del self._standing[channel_id]

    def hold(self, channel_id: str, seconds: float) -> None:
        """Slack wants nothing in this channel for so long, from those in line neither."""
        until = monotonic() + seconds
        self._free_at[channel_id] = max(until, self._free_at.get(channel_id, until))

    def _pause(self, channel_id: str) -> float:
        return self._free_at.get(channel_id, 0.0) - monotonic()

    @staticmethod
    def _check(seconds: float, at_most: float) -> None:
        if seconds > at_most:
            raise ComesLater(seconds)

    def _forget(self) -> None:
        if len(self._free_at) > KEPT:
            now = monotonic()
            self._free_at = {c: at for c, at in self._free_at.items() if at > now}
