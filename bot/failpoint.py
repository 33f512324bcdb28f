"""Where a test of faults has asked this process to end itself."""

from __future__ import annotations

import os
import signal

from bot.settings import Settings
from rag_core.desk.failpoints import POINTS, Failpoint
from rag_core.errors import ConfigurationError


def failpoint(settings: Settings) -> Failpoint | None:
    """None, but in tests."""
    if settings.failpoint is None:
        return None
    name, _, visit = settings.failpoint.partition(":")
    if name not in POINTS:
        raise ConfigurationError(
            f"FOOTNOTE_FAILPOINT names {name}; allowed: {', '.join(POINTS)}, or leave it unset."
        )
    return Failpoint(name, visit=int(visit), happens=die)


def die() -> None:
    """At once, without any goodbye."""
    os.kill(os.getpid(), signal.SIGKILL)
