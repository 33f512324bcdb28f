"""How often a key may ask: a number of requests in any stretch of time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from math import ceil

MANY_KEYS = 10_000
"""From here on those who have not asked lately are forgotten, so that memory stays flat."""


class SlidingLimit:
    """Counts what was let through; what was refused does not count."""

    def __init__(
        self,
        *,
        requests: int,
        seconds: float = 60.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._requests = requests
        self._seconds = seconds
        self._now = now
        self._passed: dict[str, deque[float]] = {}

    @property
    def known(self) -> int:
        """How many have asked and are not forgotten."""
        return len(self._passed)

    def wait_for(self, key: str) -> int:
        """0 when the request may pass, and is counted; else the seconds to wait, at least 1."""
        now = self._now()
        if len(self._passed) >= MANY_KEYS:
            self._forget_old(now)
        passed = self._passed.setdefault(key, deque())
        while passed and passed[0] <= now - self._seconds:
            passed.popleft()
        if len(passed) < self._requests:
            passed.append(now)
            return 0
        return max(1, ceil(passed[0] + self._seconds - now))

    def _forget_old(self, now: float) -> None:
        for key in [
            key for key, passed in self._passed.items() if is_old(passed, now - self._seconds)
        ]:
            del self._passed[key]


def is_old(passed: deque[float], since: float) -> bool:
    return not passed or passed[-1] <= since
