"""Takes open questions one after another, and sees each to its end."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from time import monotonic
from typing import Protocol

from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import Platform
from rag_core.conversation.state import Turn
from rag_core.desk.bell import Bell
from rag_core.desk.claiming import Claiming
from rag_core.desk.delivery import Delivery
from rag_core.desk.holding import Holding
from rag_core.desk.keeping import Keeping
from rag_core.desk.ladder import Ladder
from rag_core.desk.limits import DeskLimits
from rag_core.desk.notices import notices_in
from rag_core.desk.observer import DeskObserver
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart, Outlet
from rag_core.desk.patience import still_working
from rag_core.desk.reporter import StageReporter
from rag_core.desk.suspects import Suspects
from rag_core.errors import (
    AnswerTimedOut,
    ClaimLost,
    PlaceRefused,
    StorageError,
    StorageFull,
    Superseded,
    UpstreamError,
    UpstreamRejected,
)
from rag_core.ports import Ledger

log = logging.getLogger(__name__)


class Answers(Protocol):
    """Whoever turns a claimed question into an answer; it never raises for a question's sake."""

    async def answer(
        self, claim: OpenQuestion, progress: StageReporter
    ) -> tuple[AgentResponse, Turn | None]: ...

    async def give_up(
        self, claim: OpenQuestion, reason: BaseException | None = None
    ) -> AgentResponse:
        """The apology for a question that could not be answered however often it was tried."""
        ...

    async def decline(self, claim: OpenQuestion) -> AgentResponse:
        """The notice for a question that met a bound."""
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
        self._holding = Holding(ledger, worker=name, lease=limits.lease)
        self._delivery = Delivery(ledger=ledger, holding=self._holding)
        self._ladder = Ladder(ledger=ledger, worker=name)
        self._free = asyncio.Semaphore(limits.parallel)
        self._in_work: Counter[Platform] = Counter()
        self._claiming = Claiming(ledger, worker=name, lease=limits.lease)
        self._suspects = Suspects(limits)
        self._stopping = asyncio.Event()
        self._keeping = Keeping(
            ledger,
            worker=name,
            pause_seconds=limits.full_disk_seconds,
            stopping=self._stopping,
        )

    async def run(self) -> None:
        """Work until stopped or cancelled; what is not done by then is given back."""
        try:
            async with asyncio.TaskGroup() as tasks:
                while claim := await self._next():
                    self._in_work[claim.question.key.platform] += 1
                    tasks.create_task(self._see_through(claim))
        finally:
            await self._claiming.give_back()

    def stop(self) -> None:
        """Take nothing new; `run` ends when what is in work has ended."""
        self._stopping.set()
        self._bell.ring()

    async def _next(self) -> OpenQuestion | None:
        """The next question, once there is one and a hand is free; None when stopped."""
        await self._free.acquire()
        while not self._stopping.is_set():
            if claim := await self._claiming.next(but_not=self._crowded):
                return claim
            await self._bell.wait(at_most=self._limits.look_every_seconds)
        return None

    @property
    def _crowded(self) -> Collection[Platform]:
        """Platforms that have all the hands that one of them may have."""
        most = self._limits.of_one_platform
        return [platform for platform, held in self._in_work.items() if held >= most]

    async def _see_through(self, claim: OpenQuestion) -> None:
        """Nothing that one question meets ends the work on the others."""
        try:
            try:
                await self._finish(claim)
            except Exception as error:  # noqa: BLE001 - logged there, each kind in its way
                await self._set_aside(claim, error)
        except Exception:
            log.exception("question not set aside by a defect", extra=claim.ids)
        finally:
            self._in_work[claim.question.key.platform] -= 1
            self._free.release()
            self._bell.ring()

    async def _set_aside(self, claim: OpenQuestion, error: Exception) -> None:
        """Leave a question to whoever takes it up next, and tell who stands and waits for it."""
        match error:
            case Superseded():
                log.info("question changed meanwhile", extra=claim.ids)
                return await self._let_go(claim)
            case ClaimLost():
                return log.warning("question left to others", extra=claim.ids | cause(error))
            case StorageFull():
                # There will be space at once or in a week, and then somebody waits for the answer.
                after = self._limits.full_disk_seconds
                self._claiming.let_go_later(claim.question_id, after_seconds=after)
                log.warning("question waits for space", extra=claim.ids)
            case StorageError():
                # The claim runs out by itself, and the question is taken up again.
                log.error("question left for later", extra=claim.ids | cause(error))
            case _:
                log.error("question left for later by a defect", extra=claim.ids, exc_info=error)
        return await self._excuse(claim, error)

    async def _excuse(self, claim: OpenQuestion, error: Exception) -> None:
        """Who stands at a door and waits is told; elsewhere the answer may come late."""
        outlet = self._outlets.get(claim.question.key.platform)
        if outlet is not None and outlet.excuses is not None:
            await outlet.excuses.excuse(claim.question, error)

    async def _let_go(self, claim: OpenQuestion) -> None:
        try:
            await self._ledger.let_go(claim.question_id, worker=self._name)
        except StorageError as error:
            log.error("claim left to run out", extra=claim.ids | {"cause": str(error)})

    async def _finish(self, claim: OpenQuestion) -> None:
        outlet = self._outlets[claim.question.key.platform]
        if pause := self._suspects.must_wait(claim):
            await self._ledger.renew(claim.question_id, worker=self._name, lease=pause)
            return
        try:
            async with self._holding.held(claim):
                posted = await self._shown(claim, outlet)
        except UpstreamError as error:
            await self._deliver_later(claim, error)
        else:
            await self._close(claim, posted=posted)

    async def _shown(self, claim: OpenQuestion, outlet: Outlet) -> bool:
        """Whether an answer stands where its question was asked."""
        if claim.withdrawn:
            await self._delivery.take_back(claim, outlet.replies)
            log.info("question taken back", extra=claim.ids)
            return False
        parts = claim.parts
        if not claim.settled:
            await self._delivery.settle_unknown(claim, outlet.replies)
            parts = await self._begun(claim, outlet)
        return await self._delivered(claim, parts, outlet)

    async def _delivered(
        self, claim: OpenQuestion, parts: tuple[OutgoingPart, ...], outlet: Outlet
    ) -> bool:
        """Deliver; a form of the answer that the platform refuses gives way to a plainer one."""
        while True:
            try:
                await self._delivery.deliver(claim, parts, outlet.replies)
            except UpstreamRejected as error:
                if error.retryable or isinstance(error, PlaceRefused):
                    raise
                log.warning(
                    "answer refused",
                    extra=claim.ids | {"cause": str(error), "rung": claim.rung},
                )
                lower = await self._ladder.down(claim, parts, outlet)
                if lower is None:
                    raise
                claim, parts = lower
            else:
                log.info("answer delivered", extra=claim.ids | {"parts": len(parts)})
                return True

    async def _begun(self, claim: OpenQuestion, outlet: Outlet) -> tuple[OutgoingPart, ...]:
        """Answer; what has ended its worker before is answered one at a time."""
        async with self._suspects.beginning(claim):
            attempt = await self._ledger.begin_answer(claim.question_id)
            try:
                return await self._settled(replace(claim, attempt=attempt), outlet)
            except asyncio.CancelledError:
                await asyncio.shield(self._ledger.unbegin_answer(claim.question_id))
                raise

    async def _settled(self, claim: OpenQuestion, outlet: Outlet) -> tuple[OutgoingPart, ...]:
        """The answer's parts, once answer, turn and parts are stored together."""
        began = monotonic()
        response, turn = await self._answered(claim, outlet)
        rendered = outlet.renderer.render(response, claim.question)
        # Who stands at a door is not kept there longer than an answer takes.
        until = began + self._limits.answer_seconds if outlet.excuses else math.inf
        parts = await self._keeping.stored(claim, response, turn, rendered, until=until)
        self._observer.answered(
            claim.question.key.platform, response.outcome, seconds=monotonic() - began
        )
        return parts

    async def _answered(
        self, claim: OpenQuestion, outlet: Outlet
    ) -> tuple[AgentResponse, Turn | None]:
        """The answer, or the one sentence that stands for it."""
        if claim.refusal is not None:
            return await self._answers.decline(claim), None
        if claim.attempt > self._limits.answer_attempts:
            return await self._answers.give_up(claim), None
        try:
            async with (
                asyncio.timeout(self._limits.answer_seconds + self._limits.deadline_margin),
                outlet.replies.progress(claim.question) as shown,
            ):
                reporter = StageReporter(claim.question_id, ledger=self._ledger, shown=shown)
                return await self._patiently(claim, reporter)
        except TimeoutError:
            log.error("answer took too long", extra=claim.ids)
            return await self._answers.give_up(claim, AnswerTimedOut()), None

    async def _patiently(
        self, claim: OpenQuestion, reporter: StageReporter
    ) -> tuple[AgentResponse, Turn | None]:
        """The answer; who waits long for it is told, and who takes the question back ends it."""
        words = notices_in(claim.question.locale).still_working
        after = self._limits.still_working_seconds
        async with still_working(reporter, after=after, words=words):
            with self._bell.answering(claim.question_id):
                return await self._answers.answer(claim, reporter)

    async def _deliver_later(self, claim: OpenQuestion, error: UpstreamError) -> None:
        refused = isinstance(error, UpstreamRejected) and not error.retryable
        if refused or claim.attempt >= self._limits.delivery_attempts:
            log.error("answer given up", extra=claim.ids | {"cause": str(error)})
            await self._close(claim, posted=False)
            return
        pause = self._limits.pause_after(claim.attempt, error.retry_after)
        log.warning("answer waits", extra=claim.ids | {"cause": str(error), "for": str(pause)})
        await self._ledger.renew(claim.question_id, worker=self._name, lease=pause)

    async def _close(self, claim: OpenQuestion, *, posted: bool) -> None:
        await self._ledger.close(claim.question_id, delivered=posted, revision=claim.revision)
        self._observer.delivered(claim.question.key.platform, posted=posted)


def cause(error: Exception) -> dict[str, str | int]:
    return {"cause": str(error)}
