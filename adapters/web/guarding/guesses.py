"""Slows down whoever guesses access keys; a right key never waits and is never refused."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from adapters.web.guarding.problems import Problem
from adapters.web.guarding.rate import SlidingLimit

log = logging.getLogger(__name__)

QUICK_PER_MINUTE = 20
"""Wrong keys that are answered at once; whose they are is not asked, for behind a proxy or a
forward all come from one address."""
MOST_WAITING = 50
"""Answers that are held back at a time; further ones are refused at once."""
NOTED_EVERY_SECONDS = 60.0


class WrongKeys:
    """Counts wrong keys of all callers together and holds their answers back.

    A key is always compared first, so nobody's guesses keep anybody else out."""

    def __init__(self, *, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._now = now
        self._quick = SlidingLimit(requests=QUICK_PER_MINUTE, now=now)
        self._waiting = 0
        self._count = 0
        self._noted_at = -NOTED_EVERY_SECONDS

    async def slow_down(self) -> None:
        """Wait before a wrong key is refused; a Problem where too many wait already."""
        self._note()
        if not self._quick.wait_for(""):
            return
        if self._waiting >= MOST_WAITING:
            raise Problem(
                429,
                "Too many wrong keys. Wait a minute, then try again.",
                headers={"Retry-After": "60"},
            )
        self._waiting += 1
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self._waiting -= 1

    def _note(self) -> None:
        """One line a minute, however many there are."""
        self._count += 1
        if self._now() - self._noted_at >= NOTED_EVERY_SECONDS:
            log.warning("wrong access keys", extra={"count": self._count})
            self._count, self._noted_at = 0, self._now()
