"""A desk that behaves: accepts each message once, answers in order, delivers as the real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

from adapters.platform import ChatPlatform
from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity, Receipt
from rag_core.desk.outgoing import OutgoingPart
from rag_core.desk.progress import Progress
from rag_core.errors import StorageError, UpstreamRejected, UpstreamUnavailable
from tests.builders import a_response

ATTEMPTS = 5


class DiscordDesk:
    """What it took, what it delivered, and what it had to give up."""

    def __init__(
        self, answer: Callable[[IncomingQuestion], AgentResponse] = lambda _: a_response()
    ) -> None:
        self._answer = answer
        self._waiting: asyncio.Queue[tuple[UUID, IncomingQuestion]] = asyncio.Queue()
        self.taken: dict[MessageIdentity, tuple[UUID, IncomingQuestion]] = {}
        self.repeats = 0
        self.out_of_order_for = 0
        """How many of the next acceptances fail."""
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
        self.posted: dict[UUID, list[str]] = {}

    @property
    def questions(self) -> list[IncomingQuestion]:
        return [question for _, question in self.taken.values()]

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
            return Receipt(question_id=known[0], repeated=True)
        question_id = uuid4()
        self.taken[question.identity] = (question_id, question)
        self._waiting.put_nowait((question_id, question))
        return Receipt(question_id=question_id, repeated=False)

    async def answer(self, answer_id: UUID) -> tuple[AgentResponse, ConversationKey] | None:
        return self.answers.get(answer_id)

    async def posted_parts(self, answer_id: UUID) -> Sequence[str]:
        return self.posted.get(answer_id, [])

    @asynccontextmanager
    async def serving(self, platform: ChatPlatform) -> AsyncIterator[None]:
        """The platform listens and the desk answers until the block ends."""
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(platform.run()), tasks.create_task(self._work(platform))]
            yield
            for task in running:
                task.cancel()

    async def _work(self, platform: ChatPlatform) -> None:
        while True:
            question_id, question = await self._waiting.get()
            async with platform.replies.progress(question) as self.progress:
                await self.thinks.wait()
                response = self._answer(question)
            self.answers[response.answer_id] = (response, question.key)
            payloads = platform.renderer.render(response, question)
            parts = [
                OutgoingPart(question_id=question_id, number=number, payload=payload)
                for number, payload in enumerate(payloads)
            ]
            try:
                ids = [await self._deliver(platform, question, part) for part in parts]
                self.posted[response.answer_id] = ids
            except UpstreamRejected:
                self.given_up.append(question)
            else:
                self.delivered.append((question, ids))

    async def _deliver(
        self, platform: ChatPlatform, question: IncomingQuestion, part: OutgoingPart
    ) -> str:
        """Post; where nobody knows whether that worked, look before posting again."""
        for attempt in range(ATTEMPTS):
            if attempt and (found := await platform.replies.find(question, part)):
                self.found.append(found)
                return found
            try:
                return await platform.replies.post(question, part)
            except UpstreamUnavailable:
                await asyncio.sleep(0.01)
            except UpstreamRejected as error:
                self.refusals.append(error)
                if not error.retryable:
                    raise
                await asyncio.sleep(error.retry_after or 0.01)
        raise UpstreamRejected("discord", "tried often enough")
