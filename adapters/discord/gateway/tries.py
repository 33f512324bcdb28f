"""What became of the tries of one request: the library repeats by itself what came to no end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import aiohttp

from adapters.discord.gateway.errors import SERVICE, DiscordRefused
from rag_core.errors import UpstreamUnavailable

BROKEN = 500
"""From this status on nobody knows what was done."""


@dataclass
class Tries:
    """Whether one of them may have taken effect without anybody having heard so."""

    unsure: bool = False


current: ContextVar[Tries | None] = ContextVar("tries", default=None)


@contextmanager
def refused_at_first() -> Iterator[None]:
    """A no to a later try says nothing of the one before it: then nobody knows."""
    tries = Tries()
    token = current.set(tries)
    try:
        yield
    except DiscordRefused as refusal:
        if tries.unsure:
            raise UpstreamUnavailable(SERVICE, "refused after a try without an end") from refusal
        raise
    finally:
        current.reset(token)


def watched_by(trace: aiohttp.TraceConfig) -> None:
    """Have the tries of every request looked at."""

    async def ended(_session: Any, _context: Any, end: aiohttp.TraceRequestEndParams) -> None:
        if end.response.status >= BROKEN:
            unsure()

    async def broken(
        _session: Any, _context: Any, _end: aiohttp.TraceRequestExceptionParams
    ) -> None:
        unsure()

    trace.on_request_end.append(ended)
    trace.on_request_exception.append(broken)


def unsure() -> None:
    if (tries := current.get()) is not None:
        tries.unsure = True
