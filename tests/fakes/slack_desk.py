"""A desk that behaves: every question once, answered through the real delivery, in order."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from adapters.platform import ChatPlatform
from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey, Platform
from rag_core.desk.delivery import Delivery
from rag_core.desk.holding import Holding
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity, Receipt
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart, PartState
from rag_core.desk.progress import QuestionState
from rag_core.errors import StorageError, UpstreamError, UpstreamRejected
from tests.fakes.answers import an_answer

NAMESPACE = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
ATTEMPTS = 6
RESTART = "\u21ba"
"""A piece that begins with this takes the place of what was written before."""


class FakeDesk:
    """Accepts, answers with what the test gives it, and delivers as the real desk does."""

    def __init__(self, answer: Callable[[IncomingQuestion], AgentResponse]) -> None:
        self._answer = answer
        self.platform: ChatPlatform | None = None
        self._open: asyncio.Queue[IncomingQuestion] = asyncio.Queue()
        held = Holding(self, worker="w", lease=timedelta(seconds=9))  # type: ignore[arg-type]
        self._delivery = Delivery(ledger=self, holding=held)  # type: ignore[arg-type]
        self._threads: defaultdict[ConversationKey, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.questions: dict[MessageIdentity, IncomingQuestion] = {}
        self.parts: dict[UUID, list[OutgoingPart]] = {}
        self.failing = 0
        self.accepted = 0
        self.given_up: list[str] = []
        self.revised: list[IncomingQuestion] = []
        self.withdrawn: list[MessageIdentity] = []
        self.asked_again: list[UUID] = []
        self.responses: dict[UUID, tuple[AgentResponse, ConversationKey]] = {}
        self.hold = asyncio.Event()
        """Nothing is begun while this is not set."""
        self.hold.set()
        self.writes: Sequence[str] = ()
        """What is written, piece by piece, before an answer is whole."""
        self.between = 0.0
        self._outstanding = 0
        self._in_work: dict[MessageIdentity, IncomingQuestion] = {}
        self.idle = asyncio.Event()
        self.idle.set()

    async def since(
        self, moment: datetime, *, platform: Platform, limit: int
    ) -> list[IncomingQuestion]:
        """What was asked lately, as the ledger knows it."""
        asked = [q for q in self.questions.values() if q.heard_at >= moment]
        return [q for q in asked[::-1] if q.identity not in self.withdrawn][:limit]

    # The desk, as a platform sees it

    async def accept(self, question: IncomingQuestion) -> Receipt:
        if self.failing:
            self.failing -= 1
            raise StorageError("The database cannot be written.")
        self.accepted += 1
        repeated = question.identity in self.questions
        if not repeated:
            self.questions[question.identity] = question
            self._outstanding += 1
            self.idle.clear()
            self._open.put_nowait(question)
        return Receipt(question_id=id_of(question), repeated=repeated)

    async def revise(self, question: IncomingQuestion) -> None:
        before = self.questions.get(question.identity)
        if before is None or before.question.message == question.question.message:
            return
        self.questions[question.identity] = question
        self.revised.append(question)

    async def withdraw(self, identity: MessageIdentity, *, asker_id: str | None = None) -> bool:
        question = self.questions.get(identity)
        if question is None or asker_id not in (None, question.asker_id):
            return False
        self.withdrawn.append(identity)
        if self.platform is not None:
            for part in self.parts.pop(id_of(question), []):
                if part.external_id is not None:
                    await self.platform.replies.remove(question, part.external_id)
        return True

    async def ask_again(self, answer_id: UUID, *, asker_id: str) -> Receipt | None:
        if answer_id not in self.responses:
            return None
        self.asked_again.append(answer_id)
        return Receipt(question_id=answer_id, repeated=False)

    async def answer(self, answer_id: UUID) -> tuple[AgentResponse, ConversationKey] | None:
        return self.responses.get(answer_id)

    # Its work

    async def work(self, platform: ChatPlatform) -> None:
        self.platform = platform
        try:
            async with asyncio.TaskGroup() as tasks:
                while True:
                    question = await self._open.get()
                    self._in_work[question.identity] = question
                    await self.hold.wait()
                    tasks.create_task(self._see_through(platform, question))
        finally:  # like what a stopped process has begun: the next one takes it up
            for question in self._in_work.values():
                self._open.put_nowait(question)
            self._in_work.clear()

    async def _see_through(self, platform: ChatPlatform, question: IncomingQuestion) -> None:
        async with self._threads[question.key]:
            if question.identity not in self.withdrawn:
                await self._settle(platform, question)
            if question.identity in self.withdrawn:
                await platform.replies.clear(question)
        del self._in_work[question.identity]
        self._outstanding -= 1
        if not self._outstanding:
            self.idle.set()

    async def _settle(self, platform: ChatPlatform, question: IncomingQuestion) -> None:
        if id_of(question) in self.parts:  # settled by a process that was stopped
            await self._deliver(platform, question)
            return
        async with platform.replies.progress(question) as progress:
            await progress.stage(QuestionState.RETRIEVING)
            await asyncio.sleep(0)
            for piece in self.writes:
                await progress.text(piece, restart=piece.startswith(RESTART))
                await asyncio.sleep(self.between)
            response = self._answer(question)
        if question.identity not in self.withdrawn:
            self.responses[response.answer_id] = (response, question.key)
            payloads = platform.renderer.render(response, question)
            self.parts[id_of(question)] = [
                OutgoingPart(question_id=id_of(question), number=number, payload=payload)
                for number, payload in enumerate(payloads)
            ]
            await self._deliver(platform, question)

    async def _deliver(self, platform: ChatPlatform, question: IncomingQuestion) -> None:
        for attempt in range(ATTEMPTS):
            parts = tuple(self.parts[id_of(question)])
            claim = OpenQuestion(
                question_id=id_of(question), question=question, attempt=attempt, parts=parts
            )
            try:
                return await self._delivery.deliver(claim, parts, platform.replies)
            except UpstreamRejected as error:
                if not error.retryable:
                    self.given_up.append(str(error))
                    return None
                await asyncio.sleep(error.retry_after or 0.05)
            except UpstreamError:
                await asyncio.sleep(0.05)
        self.given_up.append("tried too often")
        return None

    # The ledger, as the delivery sees it

    async def renew(self, question_id: UUID, **kwargs: Any) -> bool:
        return True

    async def begin_post(self, part: OutgoingPart) -> None:
        self._replace(replace(part, state=PartState.POSTING))

    async def not_posted(self, part: OutgoingPart) -> None:
        self._replace(replace(part, state=PartState.PENDING))

    async def posted(self, part: OutgoingPart, *, external_id: str) -> None:
        self._replace(replace(part, state=PartState.POSTED, external_id=external_id))

    def _replace(self, part: OutgoingPart) -> None:
        self.parts[part.question_id][part.number] = part


def id_of(question: IncomingQuestion) -> UUID:
    return uuid5(NAMESPACE, str(question.identity))


def desk_that_answers(text: str = "Ten a day [1].") -> FakeDesk:
    return FakeDesk(lambda question: an_answer(text))
