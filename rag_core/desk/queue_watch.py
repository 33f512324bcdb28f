"""Tells askers who wait long in the queue that they are not forgotten, once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from rag_core.agent.checks.guard import guarded
from rag_core.conversation.key import Platform
from rag_core.desk.backlog import Overdue
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.limits import DeskLimits
from rag_core.desk.notices import notices_in
from rag_core.desk.outgoing import OutgoingPart, Outlet, ReplyChannel, Rung
from rag_core.desk.unanswered import unanswered
from rag_core.errors import FootnoteError, Superseded, UpstreamError, UpstreamRejected
from rag_core.ports import Ledger

log = logging.getLogger(__name__)

AT_ONCE = 20


class QueueWatch:
    """The notice is a message of its own, which the answer takes away when it comes."""

    def __init__(
        self, *, ledger: Ledger, outlets: Mapping[Platform, Outlet], limits: DeskLimits
    ) -> None:
        self._ledger = ledger
        self._outlets = outlets
        self._limits = limits

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._limits.queue_look_seconds)
            try:
                await self.look()
            except FootnoteError as error:
                log.warning("could not notify queued users", extra={"cause": str(error)})
            except Exception:  # the questions themselves are answered all the same
                log.exception("notifying queued users failed by a defect")

    async def look(self) -> None:
        before = datetime.now(UTC) - timedelta(seconds=self._limits.queue_seconds)
        for waiting in await self._ledger.overdue(before=before, limit=AT_ONCE):
            outlet = self._outlets.get(waiting.question.key.platform)
            if outlet is None or not outlet.replies.open_notice(waiting.question):
                await self._tell(waiting, None)
            elif not await self._tell(waiting, outlet):
                outlet.replies.close_notice(waiting.question)

    async def _tell(self, waiting: Overdue, outlet: Outlet | None) -> bool:
        """Whether a notice stands there, or may. Where nothing can be posted beside the answer,
        the question is only marked."""
        sentence = notices_in(waiting.question.locale).long_queue
        rendered = (
            outlet.renderer.render(
                unanswered(waiting.question, guarded(sentence)), waiting.question, rung=Rung.PLAIN
            )
            if outlet
            else [""]
        )
        part = await self._ledger.tell(waiting, rendered[0])
        if outlet is None or part is None:
            return False
        log.info("asker told of a long queue", extra={"question_id": str(waiting.question_id)})
        try:
            await self._ledger.begin_post(part)
            await self._post(waiting.question, part, outlet.replies)
        except Superseded:
            return False
        except UpstreamRejected as error:
            await self._ledger.dropped(part)
            log.info("notice not posted", extra={"cause": str(error)})
            return False
        except UpstreamError as error:
            # Whether it was posted is found out when the question is taken up.
            log.info("notice may be posted", extra={"cause": str(error)})
        return True

    async def _post(
        self, question: IncomingQuestion, part: OutgoingPart, replies: ReplyChannel
    ) -> None:
        external_id = await replies.post(question, part)
        try:
            await self._ledger.posted(part, external_id=external_id)
        except Superseded:  # the answer was quicker
            await replies.remove(question, external_id)
