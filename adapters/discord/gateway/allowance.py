"""How much one of Discord's buckets still takes, by what its last answer told."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

import discord
from discord.http import Ratelimit


class Allowance(Ratelimit):
    """A window that is long is no reason to wait while there is room in it.

    The library's own refuses every request as soon as a window lasts longer than anybody is to
    wait, and it holds an answer back that has used the last of the room."""

    def __init__(self, longest: float) -> None:
        super().__init__(longest)
        self._longest = longest

    async def acquire(self) -> None:
        """Take one request's room when it is there; RateLimited where that takes too long."""
        while not self._has_room():
            left = None if self.expires is None else self.expires - self._loop.time()
            if left is not None and left > self._longest:
                raise discord.RateLimited(left)
            await self._news(within=left)
        self._last_request = self._loop.time()
        self.remaining -= 1
        self.outgoing += 1

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.outgoing -= 1
        if self.expires is None:  # this answer told nothing of limits
            self._begin_anew()
        self._wake(len(self._pending_requests))

    def _has_room(self) -> bool:
        if self.is_expired():
            self._begin_anew()
        return self.remaining > 0

    def _begin_anew(self) -> None:
        self.reset()  # type: ignore[no-untyped-call]  # the library's own

    async def _news(self, *, within: float | None) -> None:
        """Until an answer came, or the window is over."""
        waiting: asyncio.Future[Any] = self._loop.create_future()
        self._pending_requests.append(waiting)
        try:
            async with asyncio.timeout(within):
                await waiting
        except TimeoutError:
            pass  # the window is over
        finally:
            waiting.cancel()
