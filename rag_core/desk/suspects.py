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
    """Lets such questions begin one at a time, and only where the process has lived for a while.

    A process that is killed early, whoever kills it, says nothing about them: so a storm of
    kills uses up none of their attempts. One that ends the process does so again and again."""

    def __init__(self, limits: DeskLimits) -> None:
        self._limits = limits
        self._since = monotonic()
        self._alone = asyncio.Lock()

    def must_wait(self, claim: OpenQuestion) -> timedelta | None:
        """How long a question is to be left alone; None: it may begin."""
        if not self._is_one(claim):
            return None
        deaths = claim.attempt - self._limits.suspect_after + 1
        calm = self._since + deaths * self._limits.suspect_calm_seconds - monotonic()
        if calm <= 0 and not self._alone.locked():
            return None
        return timedelta(seconds=max(calm, self._limits.suspect_pause_seconds))

    @contextlib.asynccontextmanager
    async def beginning(self, claim: OpenQuestion) -> AsyncIterator[None]:
        async with self._alone if self._is_one(claim) else contextlib.nullcontext():
            yield

    def _is_one(self, claim: OpenQuestion) -> bool:
        unanswered = not claim.settled and not claim.withdrawn
        return unanswered and claim.attempt >= self._limits.suspect_after
