"""Takes open questions one after another, and sees each to its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Protocol

from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import Platform
from rag_core.conversation.state import Turn
from rag_core.desk.bell import Bell
from rag_core.desk.delivery import Delivery
from rag_core.desk.limits import DeskLimits
from rag_core.desk.observer import DeskObserver
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart, Outlet
from rag_core.desk.reporter import StageReporter
from rag_core.errors import StorageError, StorageFull, UpstreamError, UpstreamRejected
from rag_core.ports import Ledger

log = logging.getLogger(__name__)


class Answers(Protocol):
    """Whoever turns a claimed question into an answer; it never raises for a question's sake."""

    async def answer(
        self, claim: OpenQuestion, progress: StageReporter
    ) -> tuple[AgentResponse, Turn | None]: ...

    async def give_up(self, claim: OpenQuestion) -> AgentResponse:
        """The apology for a question that could not be answered however often it was tried."""
        ...


class Worker:
    """One process's share of the work: claims questions, answers them, delivers the answers."""

    def __init__(
        self,
        *,
        name: str,
        ledger: Ledger,
        answers: Answers,
        outlets: Mapping[Platform, Outlet],
        bell: Bell,
        observer: DeskObserver,
        limits: DeskLimits,
    ) -> None:
        self._name = name
        self._ledger = ledger
        self._answers = answers
        self._outlets = outlets
        self._bell = bell
        self._observer = observer
        self._limits = limits
        self._delivery = Delivery(ledger=ledger, worker=name, lease=limits.lease)
        self._free = asyncio.Semaphore(limits.parallel)
        self._stopping = False

    async def run(self) -> None:
        """Work until stopped or cancelled; what is not done by then is given back.

        So is what an earlier worker of this name held when its process was killed."""
        await self._ledger.release(worker=self._name)
        try:
            async with asyncio.TaskGroup() as tasks:
                while claim := await self._next():
                    tasks.create_task(self._see_through(claim))
        finally:
            await asyncio.shield(self._ledger.release(worker=self._name))

    def stop(self) -> None:
        """Take nothing new; `run` ends when what is in work has ended."""
        self._stopping = True
        self._bell.ring()

    async def _next(self) -> OpenQuestion | None:
        """The next question, once there is one and a hand is free; None when stopped."""
        await self._free.acquire()
        while not self._stopping:
            try:
                claim = await self._ledger.claim(worker=self._name, lease=self._limits.lease)
            except StorageError as error:
                log.error("no question could be claimed", extra={"cause": str(error)})
                claim = None
            if claim is not None:
                return claim
            await self._bell.wait(at_most=self._limits.look_every_seconds)
        return None

    async def _see_through(self, claim: OpenQuestion) -> None:
        try:
            await self._finish(claim)
        except StorageError as error:
            # The claim runs out by itself, and the question is taken up again.
            log.error("question left for later", extra=ids(claim) | {"cause": str(error)})
        except Exception:
            log.exception("question left for later by a defect", extra=ids(claim))
        finally:
            self._free.release()
            self._bell.ring()

    async def _finish(self, claim: OpenQuestion) -> None:
        outlet = self._outlets[claim.question.key.platform]
        try:
            parts = claim.parts or await self._settled(claim, outlet)
            await self._delivery.deliver(claim, parts, outlet.replies)
        except UpstreamError as error:
            await self._deliver_later(claim, error)
        else:
            await self._close(claim, posted=True)
            log.info("answer delivered", extra=ids(claim) | {"parts": len(parts)})

    async def _settled(self, claim: OpenQuestion, outlet: Outlet) -> tuple[OutgoingPart, ...]:
        """The answer's parts, once answer, turn and parts are stored together."""
        began = monotonic()
        if claim.attempt > self._limits.answer_attempts:
            response: AgentResponse = await self._answers.give_up(claim)
            turn: Turn | None = None
        else:
            async with outlet.replies.progress(claim.question) as shown:
                reporter = StageReporter(claim.question_id, ledger=self._ledger, shown=shown)
                response, turn = await self._answers.answer(claim, reporter)
        rendered = outlet.renderer.render(response, claim.question)
        parts = await self._stored(claim, response, turn, rendered)
        self._observer.answered(
            claim.question.key.platform, response.outcome, seconds=monotonic() - began
        )
        return parts

    async def _stored(
        self,
        claim: OpenQuestion,
        response: AgentResponse,
        turn: Turn | None,
        parts: Sequence[str],
    ) -> tuple[OutgoingPart, ...]:
        """Settle; where only space is missing the answer is kept until there is some."""
        while True:
            try:
                return await self._ledger.settle(
                    claim.question_id,
                    worker=self._name,
                    response=response,
                    turn=turn,
                    parts=parts,
                )
            except StorageFull as error:
                log.error("answer waits for space", extra=ids(claim) | {"cause": str(error)})
                await asyncio.sleep(self._limits.full_disk_seconds)

    async def _deliver_later(self, claim: OpenQuestion, error: UpstreamError) -> None:
        refused = isinstance(error, UpstreamRejected) and not error.retryable
        if refused or claim.attempt >= self._limits.delivery_attempts:
            log.error("answer refused", extra=ids(claim) | {"cause": str(error)})
            await self._close(claim, posted=False)
            return
        pause = self._limits.pause_after(claim.attempt, error.retry_after)
        log.warning("answer waits", extra=ids(claim) | {"cause": str(error), "for": str(pause)})
        await self._ledger.renew(claim.question_id, worker=self._name, lease=pause)

    async def _close(self, claim: OpenQuestion, *, posted: bool) -> None:
        await self._ledger.close(claim.question_id, delivered=posted)
        self._observer.delivered(claim.question.key.platform, posted=posted)


def ids(claim: OpenQuestion) -> dict[str, str | int]:
    """What a log line may say of a question."""
    return {
        "question_id": str(claim.question_id),
        "platform": claim.question.key.platform.value,
        "attempt": claim.attempt,
    }
