"""How long the event loop stands still."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter

TICK = 0.002


@asynccontextmanager
async def stalls() -> AsyncIterator[list[float]]:
    """Seconds that each tick came late while this lasts."""
    late: list[float] = []

    async def watch() -> None:
        while True:
            began = perf_counter()
            await asyncio.sleep(TICK)
            late.append(perf_counter() - began - TICK)

    watching = asyncio.create_task(watch())
    try:
        yield late
    finally:
        watching.cancel()
        await asyncio.wait([watching])
