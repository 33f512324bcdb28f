"""Work that Slack need not wait for, owned until it is done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from rag_core.errors import FootnoteError

log = logging.getLogger(__name__)

MOST = 500
"""At once; what comes on top is not begun, and whoever asked may ask again."""
LAST_SECONDS = 5.0


class Errands:
    """Owns what it was given to do, until it is done."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=LAST_SECONDS)
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        if len(self._running) >= MOST:
            work.close()
            log.warning("too much to do at once", extra={"running": len(self._running)})
            return
        task = asyncio.create_task(_told(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)


async def _told(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except FootnoteError as error:
        log.warning("an errand failed", extra={"cause": str(error)})
    except Exception:
        log.exception("an errand met a defect")
