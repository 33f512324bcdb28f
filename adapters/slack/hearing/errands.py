"""Work that Slack need not wait for, owned until it is done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from rag_core.errors import DeskFull, FootnoteError

log = logging.getLogger(__name__)

MOST = 500
"""At once; what nobody misses is not begun on top, and the rest waits for its turn."""
MOST_OWED = 10_000
"""In work and waiting; whoever brings more is told so."""
LAST_SECONDS = 5.0


class Errands:
    """Owns what it was given to do, until it is done.

    No question and no delivery is an errand: those are the desk's, which keeps them written."""

    def __init__(self, *, most: int = MOST, most_owed: int = MOST_OWED) -> None:
        self._most = most
        self._most_owed = most_owed
        self._room = asyncio.Semaphore(most)
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
        """What somebody waits for: done, if later. DeskFull where there is far too much."""
        if self.is_full:
            work.close()
            raise DeskFull("Too many people press, edit and delete at once.")
        self._own(work)

    @property
    def is_full(self) -> bool:
        return len(self._running) >= self._most_owed

    def offer(self, work: Coroutine[Any, Any, None]) -> None:
        """What nobody misses, such as a sign or a title: not begun while there is much to do."""
        if len(self._running) >= self._most:
            work.close()
            log.warning("too much to do at once", extra={"running": len(self._running)})
            return
        self._own(work)

    def _own(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._in_turn(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _in_turn(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await self._room.acquire()
        except asyncio.CancelledError:
            work.close()
            raise
        try:
            await _told(work)
        finally:
            self._room.release()


async def _told(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except FootnoteError as error:
        log.warning("an errand failed", extra={"cause": str(error)})
    except Exception:  # a door: nobody waits for its end, and the others go on
        log.exception("an errand met a defect")
