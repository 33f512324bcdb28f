"""Posts the parts of an answer, each once and in order."""

from __future__ import annotations

from datetime import timedelta

from rag_core.desk.outgoing import OpenQuestion, OutgoingPart, PartState, ReplyChannel
from rag_core.ports import Ledger


class Delivery:
    """Posts what is not posted yet; a post that was begun before is looked up, not repeated."""

    def __init__(self, *, ledger: Ledger, worker: str, lease: timedelta) -> None:
        self._ledger = ledger
        self._worker = worker
        self._lease = lease

    async def deliver(
        self, claim: OpenQuestion, parts: tuple[OutgoingPart, ...], replies: ReplyChannel
    ) -> None:
        """Raises UpstreamError at the first part that the platform did not take."""
        for part in parts:
            if part.state is PartState.POSTED:
                continue
            await self._ledger.renew(claim.question_id, worker=self._worker, lease=self._lease)
            external_id = await self._posted_before(claim, part, replies)
            if external_id is None:
                await self._ledger.begin_post(part)
                external_id = await replies.post(claim.question, part)
            await self._ledger.posted(part, external_id=external_id)

    async def _posted_before(
        self, claim: OpenQuestion, part: OutgoingPart, replies: ReplyChannel
    ) -> str | None:
        if part.state is not PartState.POSTING:
            return None
        return await replies.find(claim.question, part)
