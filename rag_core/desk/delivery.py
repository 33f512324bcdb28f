"""Brings what a platform shows of a question to what it is to show: each part once, in order."""

from __future__ import annotations

import logging

from rag_core.desk.holding import Holding
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart, PartState, ReplyChannel
from rag_core.errors import ClaimLost, UpstreamRejected
from rag_core.ports import Ledger

log = logging.getLogger(__name__)


class Delivery:
    """Posts what is not posted yet, edits and removes what an earlier answer has left.

    A post that was begun before is looked up, not repeated."""

    def __init__(self, *, ledger: Ledger, holding: Holding) -> None:
        self._ledger = ledger
        self._holding = holding

    async def deliver(
        self, claim: OpenQuestion, parts: tuple[OutgoingPart, ...], replies: ReplyChannel
    ) -> None:
        """Raises UpstreamError at the first part that the platform did not take."""
        for part in parts:
            if part.state is PartState.POSTED:
                continue
            await self._renew(claim)
            match part.state:
                case PartState.EDITING:
                    await self._edit(claim, part, replies)
                case PartState.REMOVING:
                    await self._remove(claim, part, replies)
                case _:
                    await self._post(claim, part, replies)

    async def settle_unknown(self, claim: OpenQuestion, replies: ReplyChannel) -> None:
        """Find out about posts that were begun before their question was changed."""
        for part in claim.parts:
            if part.state is PartState.POSTING:
                await self._renew(claim)
                found = await replies.find(claim.question, part)
                if found is None:
                    await self._ledger.dropped(part)
                else:
                    await self._ledger.posted(part, external_id=found)

    async def take_back(self, claim: OpenQuestion, replies: ReplyChannel) -> None:
        """Remove every message of a question that was withdrawn, and what announced one."""
        for part in reversed(claim.parts):
            await self._renew(claim)
            external_id = part.external_id
            if part.state is PartState.POSTING:
                external_id = await replies.find(claim.question, part)
            if external_id is not None:
                await self._removed(claim, external_id, replies)
            await self._ledger.dropped(part)
        await self._renew(claim)
        await replies.clear(claim.question)

    async def _renew(self, claim: OpenQuestion) -> None:
        """Nothing is shown by a worker whose claim has gone to another one."""
        if not await self._holding.renew(claim):
            raise ClaimLost("The claim was lost; what is left to be shown is another's.")

    async def _post(self, claim: OpenQuestion, part: OutgoingPart, replies: ReplyChannel) -> None:
        external_id = await self._posted_before(claim, part, replies)
        if external_id is None:
            external_id = await self._sent(claim, part, replies)
        await self._ledger.posted(part, external_id=external_id)

    async def _sent(self, claim: OpenQuestion, part: OutgoingPart, replies: ReplyChannel) -> str:
        await self._ledger.begin_post(part)
        try:
            return await replies.post(claim.question, part)
        except UpstreamRejected:  # a clear refusal: there is nothing to be looked for
            await self._ledger.not_posted(part)
            raise

    async def _posted_before(
        self, claim: OpenQuestion, part: OutgoingPart, replies: ReplyChannel
    ) -> str | None:
        if part.state is not PartState.POSTING:
            return None
        return await replies.find(claim.question, part)

    async def _edit(self, claim: OpenQuestion, part: OutgoingPart, replies: ReplyChannel) -> None:
        assert part.external_id is not None
        await self._ledger.begin_post(part)
        try:
            await replies.edit(claim.question, part)
        except UpstreamRejected as error:
            if error.retryable:
                raise
            log.info(
                "a posted message could not be edited",
                extra={"question_id": str(claim.question_id), "cause": str(error)},
            )
            if not claim.source_changed:  # a mark is not worth a second message
                anew = await self._ledger.post_anew(part, revision=claim.revision)
                return await self._post(claim, anew, replies)
        return await self._ledger.posted(part, external_id=part.external_id)

    async def _remove(self, claim: OpenQuestion, part: OutgoingPart, replies: ReplyChannel) -> None:
        assert part.external_id is not None
        await self._ledger.begin_post(part)
        await self._removed(claim, part.external_id, replies)
        await self._ledger.dropped(part)

    async def _removed(self, claim: OpenQuestion, external_id: str, replies: ReplyChannel) -> None:
        try:
            await replies.remove(claim.question, external_id)
        except UpstreamRejected as error:
            if error.retryable:
                raise
            log.warning(
                "a posted message could not be removed",
                extra={"question_id": str(claim.question_id), "cause": str(error)},
            )
