"""The state of an installation: signed, bound to one browser, good for a while."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from time import time

LABEL = b"footnote slack install\0"
BYTES = 24
BROWSER_LENGTH = 32
"""Characters that so many bytes take."""


class Fault(Enum):
    """Why a state is not taken."""

    FOREIGN = "foreign"
    """Nobody here has issued it, or to another browser."""
    LATE = "late"


class InstallStates:
    """Issues states and knows its own again; nothing is stored until one comes back."""

    def __init__(self, *, secret: str, good_for: float, clock: Callable[[], float] = time) -> None:
        self._key = hashlib.sha256(LABEL + secret.encode()).digest()
        self._good_for = good_for
        self._clock = clock

    @staticmethod
    def browser(cookie: str) -> str:
        """What a browser is known by: what it brings, if that can be ours, else something new.

        Whoever opens the page twice can finish in either window."""
        fits = len(cookie) == BROWSER_LENGTH and cookie.replace("-", "").replace("_", "").isalnum()
        return cookie if fits and cookie.isascii() else secrets.token_urlsafe(BYTES)

    def issue(self, browser: str) -> str:
        told = f"{int(self._clock() + self._good_for)}.{secrets.token_urlsafe(BYTES)}"
        return f"{told}.{self._mark(told, browser)}"

    def fault(self, state: str, browser: str) -> Fault | None:
        told, _, mark = state.rpartition(".")
        if not browser or not hmac.compare_digest(
            self._mark(told, browser).encode(), mark.encode()
        ):
            return Fault.FOREIGN
        return Fault.LATE if self._clock() > self._end(told) else None

    def until(self, state: str) -> datetime:
        """Until when a state of ours could be used; so long it is remembered once it was."""
        return datetime.fromtimestamp(self._end(state), UTC)

    @staticmethod
    def _end(told: str) -> int:
        return int(told.partition(".")[0])

    def _mark(self, told: str, browser: str) -> str:
        return hmac.new(self._key, f"{told}\0{browser}".encode(), hashlib.sha256).hexdigest()
