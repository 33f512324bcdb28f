"""Questions whose process died while it answered them: they may be what ends it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from time import monotonic

from rag_core.desk.limits import DeskLimits
from rag_core.desk.outgoing import OpenQuestion


class Suspects:
    """Lets such questions begin where the process has lived for a while: first one alone, then,
    as long as none ends the process, twice as many at once each time.

    A process that is killed early, whoever kills it, says nothing about them: so a storm of
    kills uses up none of their attempts. One that ends the process does so again and again, and
    once it has died more often than the others it is answered with no other one beside it."""

    def __init__(self, limits: DeskLimits) -> None:
        self._limits = limits
        self._since = monotonic()
        self._changed = asyncio.Condition()
        self._begun = 0
        self._at_once = 1
        self._is_one_alone = False

    def must_wait(self, claim: OpenQuestion) -> timedelta | None:
        """How long a question is to be left alone; None: it may begin."""
        if not self._is_one(claim):
            return None
        deaths = claim.attempt - self._limits.suspect_after + 1
        calm = self._since + deaths * self._limits.suspect_calm_seconds - monotonic()
        if calm <= 0 and self._has_room(claim):
            return None
        return timedelta(seconds=max(calm, self._limits.suspect_pause_seconds))

    @contextlib.asynccontextmanager
    async def beginning(self, claim: OpenQuestion) -> AsyncIterator[None]:
        if not self._is_one(claim):
            yield
            return
        async with self._changed:
            await self._changed.wait_for(lambda: self._has_room(claim))
            self._begun += 1
            self._is_one_alone = self._is_alone(claim)
        try:
            yield
            self._at_once = min(self._at_once * 2, self._limits.parallel)
        finally:
            async with self._changed:
                self._begun -= 1
                self._is_one_alone = False
                self._changed.notify_all()

    def _is_one(self, claim: OpenQuestion) -> bool:
        unanswered = not claim.settled and not claim.withdrawn
        return unanswered and claim.attempt >= self._limits.suspect_after

    def _is_alone(self, claim: OpenQuestion) -> bool:
        return claim.attempt > self._limits.suspect_after

    def _has_room(self, claim: OpenQuestion) -> bool:
        if self._is_alone(claim):
            return not self._begun
        return not self._is_one_alone and self._begun < self._at_once
