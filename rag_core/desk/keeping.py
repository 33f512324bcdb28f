"""Keeps a finished answer until it is stored."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from time import monotonic

from rag_core.agent.answer import AgentResponse
from rag_core.conversation.state import Turn
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart
from rag_core.desk.trouble import Trouble
from rag_core.errors import StorageFull
from rag_core.ports import Ledger

log = logging.getLogger(__name__)


class Keeping:
    """Where only space is missing it waits for some, so that the model is not asked again."""

    def __init__(
        self, ledger: Ledger, *, worker: str, pause_seconds: float, stopping: asyncio.Event
    ) -> None:
        self._ledger = ledger
        self._worker = worker
        self._pause_seconds = pause_seconds
        self._stopping = stopping
        self._trouble = Trouble("answers wait for space")

    async def stored(
        self,
        claim: OpenQuestion,
        response: AgentResponse,
        turn: Turn | None,
        parts: Sequence[str],
        *,
        until: float,
    ) -> tuple[OutgoingPart, ...]:
        """The stored parts; StorageFull at that moment, or when it is time to end."""
        while True:
            try:
                parts_stored = await self._ledger.settle(
                    claim.question_id,
                    worker=self._worker,
                    response=response,
                    turn=turn,
                    parts=parts,
                    revision=claim.revision,
                )
            except StorageFull as error:
                if self._stopping.is_set() or monotonic() >= until:
                    raise
                self._trouble.met(error)
                await self._rest()
            else:
                self._trouble.over()
                return parts_stored

    async def _rest(self) -> None:
        """Pause, unless it is time to end."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._pause_seconds):
                await self._stopping.wait()
