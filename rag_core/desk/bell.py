"""Wakes the worker when there may be something to do, and calls it back from what is not wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from rag_core.errors import Superseded


class Bell:
    """Rung by whoever accepts a question; other processes' questions are found by looking."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()
        self._work: dict[UUID, asyncio.Task[Any]] = {}
        self._called_back: set[UUID] = set()

    def ring(self) -> None:
        self._rung.set()

    def ring_after(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self.ring)

    async def wait(self, *, at_most: float) -> None:
        """Until the bell rings, or the time is up."""
        try:
            async with asyncio.timeout(at_most):
                await self._rung.wait()
        except TimeoutError:
            pass
        self._rung.clear()

    def call_back(self, question_id: UUID) -> None:
        """End the work on an answer that nobody wants any more; where it is done here."""
        task = self._work.get(question_id)
        if task is not None and question_id not in self._called_back:
            self._called_back.add(question_id)
            task.cancel()

    @contextmanager
    def answering(self, question_id: UUID) -> Iterator[None]:
        """Work that may be called back; then it ends with Superseded."""
        task = asyncio.current_task()
        assert task is not None
        self._work[question_id] = task
        try:
            yield
        except asyncio.CancelledError:
            if question_id in self._called_back and task.uncancel() == 0:
                raise Superseded("The question was changed or taken back.") from None
            raise
        finally:
            del self._work[question_id]
            self._called_back.discard(question_id)
