"""Slack's "later" is waited for by who waits for nothing else, as long as it is soon."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from rag_core.errors import UpstreamRejected, UpstreamUnavailable

TRIES = 3
LONGEST_PAUSE = 10.0
"""A longer wait is left to the desk, which holds no worker meanwhile: one channel that Slack lets
wait would otherwise keep everybody's answers waiting."""
PAUSE_UNTOLD = 1.0
Done = TypeVar("Done")


async def patiently(work: Callable[[], Awaitable[Done]], *, repeatable: bool = False) -> Done:
    """Do again what Slack has clearly not done; each try waits for its turn, which is put off.
    What may be done twice is done again where nobody knows, too."""
    for tries_left in reversed(range(TRIES)):
        try:
            return await work()
        except UpstreamRejected as error:
            if not error.retryable or not tries_left or is_far(error):
                raise
            await asyncio.sleep(PAUSE_UNTOLD if error.retry_after is None else 0.0)
        except UpstreamUnavailable:
            if not repeatable or not tries_left:
                raise
            await asyncio.sleep(PAUSE_UNTOLD)
    raise AssertionError("the last try returns or raises")


def is_far(error: UpstreamRejected) -> bool:
    """Whether Slack lets us wait for longer than anybody is to stand and wait."""
    return error.retryable and (error.retry_after or 0.0) > LONGEST_PAUSE
