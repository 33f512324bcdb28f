"""When a failed call is tried again, and when it is not."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from rag_core.errors import UpstreamError, UpstreamUnavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """At most so many attempts, with growing pauses that differ from caller to caller."""

    attempts: int = 3
    first_seconds: float = 0.5
    longest_seconds: float = 8.0
    patience: float = 60.0
    """Seconds for all attempts together: a pause that reaches beyond them is not made."""
    chance: random.Random = field(default_factory=random.SystemRandom)

    def pause(self, error: UpstreamError, *, attempt: int, elapsed: float) -> float | None:
        """Seconds to wait before the next attempt; None: this was the last one."""
        if not error.retryable or attempt >= self.attempts:
            return None
        growing = min(self.longest_seconds, self.first_seconds * 2 ** (attempt - 1))
        pause = growing * self.chance.uniform(0.5, 1.0)
        if error.retry_after is not None:
            pause = max(pause, error.retry_after)
        return pause if elapsed + pause < self.patience else None


class Breaker:
    """Spares a service that is down: after some failures in a row nobody asks it for a while.

    Then one caller tries; when that one succeeds, all may ask again. So many as `waiting` may wait
    for that, where there is nothing to do without the service."""

    def __init__(
        self,
        service: str,
        *,
        failures: int = 5,
        rest_seconds: float = 5.0,
        waiting: int = 0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._service = service
        self._limit = failures
        self._rest = rest_seconds
        self._places = waiting
        self._clock = clock
        self._sleep = sleep
        self._failures = 0
        self._try_at = 0.0

    async def turn(self) -> None:
        """Return when the service may be asked; refuse a call that would have to wait in a crowd,
        or for longer than until the next trial."""
        if self._is_resting and self._places:
            self._places -= 1
            try:
                await self._until(self._try_at)
            finally:
                self._places += 1
        if self._is_resting:
            raise UpstreamUnavailable(self._service, "it failed often and is left alone for now")
        if self._failures >= self._limit:
            self._try_at = self._clock() + self._rest  # whoever asks next waits for this one

    async def _until(self, moment: float) -> None:
        """A sleep may end a little early, and too early is refused."""
        while (left := moment - self._clock()) > 0:
            await self._sleep(left)

    @property
    def _is_resting(self) -> bool:
        return self._failures >= self._limit and self._clock() < self._try_at

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self) -> None:
        """A failure that is the service's fault: no connection, or a server error."""
        self._failures += 1
        self._try_at = self._clock() + self._rest
