"""When a failed call is tried again, and when it is not."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
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

    Then one caller tries; when that one succeeds, all may ask again."""

    def __init__(
        self,
        service: str,
        *,
        failures: int = 5,
        rest_seconds: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._service = service
        self._limit = failures
        self._rest = rest_seconds
        self._clock = clock
        self._failures = 0
        self._try_at = 0.0

    def check(self) -> None:
        """Refuse a call while the service rests."""
        if self._failures < self._limit:
            return
        if self._clock() < self._try_at:
            raise UpstreamUnavailable(self._service, "it failed often and is left alone for now")
        self._try_at = self._clock() + self._rest  # whoever asks next waits for this one

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self) -> None:
        """A failure that is the service's fault: no connection, or a server error."""
        self._failures += 1
        self._try_at = self._clock() + self._rest
