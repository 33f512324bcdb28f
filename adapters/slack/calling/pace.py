"""When the next message may be posted to a channel."""

from __future__ import annotations

import asyncio
from time import monotonic

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

    async def turn(self, channel_id: str, *, at_most: float) -> None:
        """Wait for this channel's next turn, and take it; ComesLater where it is further away."""
        now = monotonic()
        at = max(now, self._free_at.get(channel_id, now))
        if at - now > at_most:
            raise ComesLater(at - now)
        self._free_at[channel_id] = at + self._seconds
        self._forget(now)
        await asyncio.sleep(at - now)

    def hold(self, channel_id: str, seconds: float) -> None:
        """Slack wants nothing in this channel for so long."""
        until = monotonic() + seconds
        self._free_at[channel_id] = max(until, self._free_at.get(channel_id, until))

    def _forget(self, now: float) -> None:
        if len(self._free_at) > KEPT:
            self._free_at = {c: at for c, at in self._free_at.items() if at > now}
