"""Takes questions from the ledger in one worker's name, and gives them back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from datetime import timedelta
from time import monotonic
from uuid import UUID

from rag_core.conversation.key import Platform
from rag_core.desk.outgoing import OpenQuestion
from rag_core.desk.trouble import Trouble
from rag_core.errors import StorageError
from rag_core.ports import Ledger

log = logging.getLogger(__name__)


class Claiming:
    """What an earlier worker of this name held when its process was killed is taken back first."""

    def __init__(self, ledger: Ledger, *, worker: str, lease: timedelta) -> None:
        self._ledger = ledger
        self._worker = worker
        self._lease = lease
        self._has_inherited = False
        self._left: dict[UUID, float] = {}
        """What is to be given back, and when: as soon as that can be written down."""
        self._trouble = Trouble("no question is claimed")

    async def next(self, *, but_not: Collection[Platform]) -> OpenQuestion | None:
        """The question whose turn it is; None: nothing waits, or the database cannot say."""
        try:
            if not self._has_inherited:
                await self._ledger.release(worker=self._worker)
                self._has_inherited = True
            await self._let_go()
            claim = await self._ledger.claim(
                worker=self._worker, lease=self._lease, but_not=but_not
            )
        except Exception as error:  # noqa: BLE001 - said there; the next look may do better
            self._trouble.met(error)
            return None
        self._trouble.over()
        return claim

    def let_go_later(self, question_id: UUID, *, after_seconds: float) -> None:
        """Somebody takes it up again then, or once the database can be written to."""
        self._left[question_id] = monotonic() + after_seconds

    async def _let_go(self) -> None:
        now = monotonic()
        for question_id in [each for each, due in self._left.items() if due <= now]:
            await self._ledger.let_go(question_id, worker=self._worker)
            del self._left[question_id]

    async def give_back(self) -> None:
        """At the end; claims that cannot be given back run out, or are inherited."""
        try:
            await asyncio.shield(self._ledger.release(worker=self._worker))
        except StorageError as error:
            log.error("claims left to run out", extra={"cause": str(error)})
