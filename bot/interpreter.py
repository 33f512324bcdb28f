"""The interpreter as a program needs it that runs for hours and must be quick to hear anybody."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

TURN_SECONDS = 0.001
"""How long a thread may compute before it gives way. The event loop asks for its turn again and
again on the way of one request, and each time waits so long beside a thread that reads a book."""


@contextmanager
def short_turns() -> Iterator[None]:
    """Threads give way to each other soon."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(TURN_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


@contextmanager
def settled_in() -> Iterator[None]:
    """What there is now stays to the end: the collector need not look at it time and again.

    To go over all that the libraries brought takes a tenth of a second, in which nobody else gets
    a turn."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
