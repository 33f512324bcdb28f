"""When the next message may be posted to a channel."""

from __future__ import annotations

import math
from time import monotonic

from adapters.slack.calling.lines import Lines

KEPT = 1_000
"""Channels whose time is remembered; what has passed is forgotten beyond that."""


class Pace:
    """Slack takes about one message a second in a channel, and says how long to wait after more."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._free_at: dict[str, float] = {}
        self._lines = Lines()

    async def turn(self, channel_id: str, *, at_most: float = math.inf) -> None:
        """Stand in line for this channel, and take its next turn.

        The next turn is counted from the moment when this one is taken: whoever wakes up late on a
        busy machine would otherwise be followed too closely.
        """

        def pause(before: int) -> float:
            return self._free_at.get(channel_id, 0.0) - monotonic() + before * self._seconds

        async with self._lines.turn(channel_id, pause, at_most=at_most):
            self._forget()
            self._free_at[channel_id] = monotonic() + self._seconds

    def hold(self, channel_id: str, seconds: float) -> None:
        """Slack wants nothing in this channel for so long, from those in line neither."""
        until = monotonic() + seconds
        self._free_at[channel_id] = max(until, self._free_at.get(channel_id, until))

    def _forget(self) -> None:
        if len(self._free_at) > KEPT:
            now = monotonic()
            self._free_at = {c: at for c, at in self._free_at.items() if at > now}
