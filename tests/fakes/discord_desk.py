"""A desk that behaves: accepts each message once, answers in order, delivers as the real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID, uuid4

from adapters.platform import ChatPlatform
from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey, Platform
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity, Receipt
from rag_core.desk.outgoing import OutgoingPart
from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import StorageError, UpstreamRejected, UpstreamUnavailable
from tests.builders import a_response

ATTEMPTS = 5


@dataclass
class Taken:
    """One question with its answer, as far as it is."""

    question: IncomingQuestion
    question_id: UUID = field(default_factory=uuid4)
    response: AgentResponse | None = None
    posted: list[str] = field(default_factory=list)
    withdrawn: bool = False


class DiscordDesk:
    """What it took, what it delivered, and what it had to give up."""

    def __init__(
        self, answer: Callable[[IncomingQuestion], AgentResponse] = lambda _: a_response()
    ) -> None:
        self.answers_with = answer
        self._waiting: asyncio.Queue[Taken] = asyncio.Queue()
        self._platform: ChatPlatform | None = None
        self.taken: dict[MessageIdentity, Taken] = {}
        self.repeats = 0
        self.out_of_order_for = 0
        """How many of the next acceptances fail."""
        self.broken = False
        """Whether nothing can be changed any more."""
        self.shows_progress = True
        """Or it goes on where an answer was settled already, and only delivers it."""
        self.renewal_seconds = 0.0
        self.hands = 1
        """How many questions are answered at once."""
        self.writes: Callable[[Progress], Awaitable[None]] | None = None
        """How an answer is written, piece by piece."""
        self.thinks = asyncio.Event()
        """While it is not set, answers are still being written."""
        self.thinks.set()
        self.progress: Progress | None = None
        """Of the question that is being answered."""
        self.delivered: list[tuple[IncomingQuestion, list[str]]] = []
        self.found: list[str] = []
        self.refusals: list[UpstreamRejected] = []
        self.given_up: list[IncomingQuestion] = []
        self.answers: dict[UUID, tuple[AgentResponse, ConversationKey]] = {}

    @property
    def questions(self) -> list[IncomingQuestion]:
        return [taken.question for taken in self.taken.values()]

    @property
    def withdrawn(self) -> list[IncomingQuestion]:
        return [taken.question for taken in self.taken.values() if taken.withdrawn]

    @property
    def texts(self) -> list[str]:
        return [question.question.message for question in self.questions]

    async def accept(self, question: IncomingQuestion) -> Receipt:
        if self.out_of_order_for:
            self.out_of_order_for -= 1
            raise StorageError("the disk is full")
        known = self.taken.get(question.identity)
        if known is not None:
            self.repeats += 1
            return Receipt(question_id=known.question_id, repeated=True)
        taken = self.taken[question.identity] = Taken(question)
        self._waiting.put_nowait(taken)
        return Receipt(question_id=taken.question_id, repeated=False)

    async def since(
        self, moment: datetime, *, platform: Platform, limit: int
    ) -> list[IncomingQuestion]:
        """What was asked lately, as the ledger knows it."""
        asked = [t.question for t in self.taken.values() if not t.withdrawn]
        return [q for q in asked[::-1] if q.heard_at >= moment][:limit]

    async def revise(self, question: IncomingQuestion) -> None:
        known = self.taken.get(question.identity)
        if known is None or known.withdrawn:
            return
        if known.question.question == question.question:
            self.repeats += 1
            return
        known.question = question
        if known.posted:
            await self._renew(known)

    async def withdraw(self, identity: MessageIdentity, *, asker_id: str | None = None) -> bool:
        if self.broken:
            raise StorageError("the disk is full")
        known = self.taken.get(identity)
        if known is None or asker_id not in {None, known.question.asker_id}:
            return False
        known.withdrawn = True
        while known.posted:
            try:
                await self.platform.replies.remove(known.question, known.posted[-1])
            except UpstreamUnavailable:
                await asyncio.sleep(0.01)
            else:
                known.posted.pop()
        return True

    async def ask_again(self, answer_id: UUID, *, asker_id: str) -> Receipt | None:
        for known in self.taken.values():
            if known.response is not None and known.response.answer_id == answer_id:
                await self._renew(known)
                return Receipt(question_id=answer_id, repeated=False)
        return None

    async def answer(self, answer_id: UUID) -> tuple[AgentResponse, ConversationKey] | None:
        return self.answers.get(answer_id)

    @property
    def platform(self) -> ChatPlatform:
        assert self._platform is not None
        return self._platform

    @asynccontextmanager
    async def serving(self, platform: ChatPlatform) -> AsyncIterator[None]:
        """The platform listens and the desk answers until the block ends."""
        self._platform = platform
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(platform.run())]
            running += [tasks.create_task(self._work()) for _ in range(self.hands)]
            yield
            for task in running:
                task.cancel()

    async def _work(self) -> None:
        while True:
            taken = await self._waiting.get()
            async with AsyncExitStack() as stack:
                if self.shows_progress:
                    shown = self.platform.replies.progress(taken.question)
                    self.progress = progress = await stack.enter_async_context(shown)
                    if self.writes is not None:
                        await self.writes(progress)
                await self.thinks.wait()
                parts = self._answered(taken)
            if taken.withdrawn:
                continue
            try:
                for part in parts:
                    taken.posted.append(await self._deliver(taken.question, part))
            except UpstreamRejected:
                self.given_up.append(taken.question)
            else:
                self.delivered.append((taken.question, taken.posted))

    def _answered(self, taken: Taken) -> list[OutgoingPart]:
        response = taken.response = self.answers_with(taken.question)
        self.answers[response.answer_id] = (response, taken.question.key)
        payloads = self.platform.renderer.render(response, taken.question)
        return [
            OutgoingPart(question_id=taken.question_id, number=number, payload=payload)
            for number, payload in enumerate(payloads)
        ]

    async def _renew(self, taken: Taken) -> None:
        """Another answer in the messages of the one before; what is too many goes."""
        replies = self.platform.replies
        async with replies.progress(taken.question) as progress:
            await progress.stage(QuestionState.GENERATING)
            await progress.text("Writing anew")
            await asyncio.sleep(self.renewal_seconds)
            parts = self._answered(taken)
        for part, external_id in zip(parts, taken.posted, strict=False):
            changed = OutgoingPart(
                question_id=part.question_id,
                number=part.number,
                payload=part.payload,
                external_id=external_id,
            )
            await replies.edit(taken.question, changed)
        for part in parts[len(taken.posted) :]:
            taken.posted.append(await self._deliver(taken.question, part))
        while len(taken.posted) > len(parts):
            await replies.remove(taken.question, taken.posted.pop())

    async def _deliver(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        """Post; where nobody knows whether that worked, look before posting again."""
        replies = self.platform.replies
        for attempt in range(ATTEMPTS):
            try:
                if attempt and (found := await replies.find(question, part)):
                    self.found.append(found)
                    return found
                return await replies.post(question, part)
            except UpstreamUnavailable:
                await asyncio.sleep(0.01)
            except UpstreamRejected as error:
                self.refusals.append(error)
                if not error.retryable:
                    raise
                await asyncio.sleep(error.retry_after or 0.01)
        raise UpstreamRejected("discord", "tried often enough")
