"""The Discord stand-in's rate limits, and the troubles that a test asks it to make."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

IN_ALL_A_SECOND = 50


@dataclass(frozen=True)
class Allowance:
    """How many requests one bucket takes in a window."""

    requests: int
    seconds: float


class Buckets:
    """Counts requests per route and channel, and tells the client with every answer."""

    def __init__(self, *, default: Allowance, special: Mapping[str, Allowance]) -> None:
        self._default = default
        self._special = special
        self._windows: dict[tuple[str, str], tuple[float, int]] = {}
        self._last_second: deque[float] = deque()
        self.refused = 0
        self.refused_in_all = 0
        """By the bound on all requests together, which a machine that stands still runs into."""

    def take_any(self) -> float | None:
        """Whether all requests together are too many, and for how long; no header tells before."""
        now = time.monotonic()
        while self._last_second and self._last_second[0] <= now - 1.0:
            self._last_second.popleft()
        if len(self._last_second) >= IN_ALL_A_SECOND:
            self.refused_in_all += 1
            return self._last_second[0] + 1.0 - now
        self._last_second.append(now)
        return None

    def take(self, route: str, major: str) -> tuple[dict[str, str], float | None]:
        """The headers of the answer, and how long to wait when the bucket is empty."""
        allowance = self._special.get(route, self._default)
        now = time.monotonic()
        end, taken = self._windows.get((route, major), (now, 0))
        if now >= end:
            end, taken = now + allowance.seconds, 0
        full = taken >= allowance.requests
        self.refused += full
        taken += not full
        self._windows[route, major] = (end, taken)
        reset_after = ceil((end - now) * 1000) / 1000
        return {
            "X-RateLimit-Bucket": f"{abs(hash(route)):x}",
            "X-RateLimit-Limit": str(allowance.requests),
            "X-RateLimit-Remaining": str(allowance.requests - taken),
            "X-RateLimit-Reset": f"{time.time() + reset_after:.3f}",
            "X-RateLimit-Reset-After": f"{reset_after:.3f}",
        }, reset_after if full else None


@dataclass(frozen=True)
class Trouble:
    """What goes wrong with a request, and whether it takes effect all the same."""

    status: int | None = None
    """An error status instead of the answer; None with `reset` or `hang`."""
    code: int = 0
    reset: bool = False
    hang: bool = False
    retry_after: float = 0.0
    everywhere: bool = False
    """Whether a 429 is of the limit on all requests together."""
    via: bool = True
    """A 429 without a Via header comes from the wall before Discord, not from Discord."""
    takes_effect: bool = False
    body: Mapping[str, Any] | None = None
    """What the answer says in place of what Discord would say."""


class Troubles:
    """The troubles still to be made, first come, first served, by route."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Trouble]] = {}
        self.made: list[tuple[str, Trouble]] = []

    def on(self, route: str, trouble: Trouble, *, times: int = 1) -> None:
        self._waiting.setdefault(route, deque()).extend([trouble] * times)

    def are_waiting(self, route: str) -> bool:
        """Whether some are still to be made there."""
        return bool(self._waiting.get(route))

    def next(self, route: str) -> Trouble | None:
        waiting = self._waiting.get(route)
        if not waiting:
            return None
        trouble = waiting.popleft()
        self.made.append((route, trouble))
        return trouble
