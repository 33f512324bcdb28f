"""Tells who waits for a long answer that it is still being worked on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rag_core.desk.reporter import StageReporter


@asynccontextmanager
async def still_working(
    reporter: StageReporter, *, after: float, words: str
) -> AsyncIterator[None]:
    """While the block takes longer than this, its asker hears so."""

    async def tell() -> None:
        while True:
            await asyncio.sleep(after)
            await reporter.still(words)

    telling = asyncio.create_task(tell())
    try:
        yield
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
