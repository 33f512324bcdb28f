"""Keeps a worker's claim for as long as its work takes, and ends work whose claim is lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from rag_core.desk.outgoing import OpenQuestion
from rag_core.errors import ClaimLost, StorageError
from rag_core.ports import Ledger

log = logging.getLogger(__name__)

RENEWALS_A_LEASE = 3


class Holding:
    """A platform may take longer than a lease: it lets a channel wait, or does not answer.

    Whoever took the question up then would not find the message that is still on its way."""

    def __init__(self, ledger: Ledger, *, worker: str, lease: timedelta) -> None:
        self._ledger = ledger
        self._worker = worker
        self._lease = lease

    @asynccontextmanager
    async def held(self, claim: OpenQuestion) -> AsyncIterator[None]:
        """While the block lasts nobody else takes the question up, or it ends with ClaimLost."""
        work = asyncio.current_task()
        assert work is not None
        keeping = asyncio.create_task(self._kept(claim))

        def lost(kept: asyncio.Task[None]) -> None:
            if not kept.cancelled():
                work.cancel()

        keeping.add_done_callback(lost)
        try:
            yield
        except asyncio.CancelledError:
            if keeping.done() and work.uncancel() == 0:
                raise ClaimLost("The claim was lost while its work went on.") from None
            raise
        finally:
            keeping.remove_done_callback(lost)  # what comes after the block is not its matter
            keeping.cancel()

    async def _kept(self, claim: OpenQuestion) -> None:
        """Until cancelled, or the claim is another's."""
        while True:
            await asyncio.sleep(self._lease.total_seconds() / RENEWALS_A_LEASE)
            try:
                if not await self.renew(claim):
                    return
            except StorageError as error:
                log.warning("claim not renewed", extra=claim.ids | {"cause": str(error)})
            except Exception:
                # Only a clear no loses the claim: the work goes on, and the next renewal is tried.
                log.exception("claim not renewed by a defect", extra=claim.ids)

    async def renew(self, claim: OpenQuestion) -> bool:
        """Whether the claim is still this worker's, for another lease."""
        return await self._ledger.renew(claim.question_id, worker=self._worker, lease=self._lease)
