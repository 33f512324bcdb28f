"""Who may send the next request: Discord takes fifty a second in all, and tells nobody how many
are left."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from itertools import count

A_SECOND = 38
AT_ONCE = 6
"""Both together leave room for what the network bunches up."""


class Urgency(IntEnum):
    """What goes first. What is as urgent as something else, waits for it."""

    TAKEN = -1
    """It had its turn already."""
    ANSWER = 0
    FIRST_WORDS = 1
    FURTHER_WORDS = 2
    SIGN = 3


urgency: ContextVar[Urgency] = ContextVar("urgency", default=Urgency.ANSWER)


@contextmanager
def as_urgent_as(level: Urgency) -> Iterator[None]:
    """The requests made within go as urgently as this."""
    token = urgency.set(level)
    try:
        yield
    finally:
        urgency.reset(token)


class Turns:
    """Gives turns at an even pace, the most urgent first."""

    def __init__(self, *, a_second: int = A_SECOND, at_once: int = AT_ONCE) -> None:
        self._gap = 1.0 / a_second
        self._slack = self._gap * (at_once - 1)
        self._next = 0.0
        self._order = count()
        self._waiting: list[tuple[Urgency, int, asyncio.Future[None]]] = []
        self._timer: asyncio.TimerHandle | None = None

    async def wait(self, level: Urgency) -> None:
        if level is Urgency.TAKEN:
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (level, next(self._order), turn))
        self._give()
        await turn

    def _give(self) -> None:
        """As many turns as there are now; the rest when the next one is due."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        while self._waiting and self._next - self._slack <= now:
            *_, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                self._next = max(now, self._next) + self._gap
        if self._waiting and self._timer is None:
            self._timer = loop.call_at(self._next - self._slack, self._due)

    def _due(self) -> None:
        self._timer = None
        self._give()
