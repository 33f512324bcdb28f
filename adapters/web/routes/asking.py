"""A question from HTTP, from the body to its answer."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID, uuid4

from adapters.pastes import SplitMessage, split_message
from adapters.web.documents.bodies import ChatBody
from adapters.web.guarding.caller import Caller
from adapters.web.guarding.problems import Problem, invalid, not_found, unavailable
from adapters.web.parts import WebParts
from adapters.web.renderer import document_text
from adapters.web.reply import Final, HubEvent, Topic
from adapters.web.routes.reading import Reading
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import QuestionState
from rag_core.errors import StorageError

log = logging.getLogger(__name__)

RESTARTS = (
    "Footnote is being restarted. The question is kept;"
    " its answer will stand in the thread {thread}."
)
EVENT_ID = re.compile(r"([0-9a-f]{32})\.([0-9a-f]{8})\.([0-9]{1,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that was accepted, and after which of its events the caller listens."""

    question: IncomingQuestion
    question_id: UUID
    repeated: bool
    after: int = 0
    in_one_piece: bool = False
    """Whether the caller waits for the whole answer, and could not take up a stream again."""


class Asking:
    """Hands questions to the desk and waits for what comes of them."""

    def __init__(
        self,
        parts: WebParts,
        reading: Reading,
        *,
        wait_seconds: float,
        poll_seconds: float,
        splits: bool,
    ) -> None:
        """`splits`: a message that is too long is split into question and paste. A program is told
        that it is too long."""
        self._parts = parts
        self._reading = reading
        self._wait_seconds = wait_seconds
        self._poll_seconds = poll_seconds
        self._splits = splits

    async def ask(
        self, body: ChatBody, caller: Caller, *, last_event: str = "", locale: str = "en"
    ) -> Asked:
        """Accept the question, or find the one that the caller lost the stream of.

        A message id that came back is accepted again under the caller's own name: the desk
        knows its repeats, so nobody hears another's answer and nothing is asked twice."""
        message_id, after = self._heard_before(last_event) or (uuid4().hex, 0)
        question = await self._incoming(body, caller, message_id, locale=locale)
        with self._parts.replies.listening(question) as topic:
            await topic.stage(QuestionState.PENDING)
            receipt = await self._parts.desk.accept(question)
        return Asked(
            question=question,
            question_id=receipt.question_id,
            repeated=receipt.repeated,
            after=after,
        )

    async def _incoming(
        self, body: ChatBody, caller: Caller, message_id: str, *, locale: str
    ) -> IncomingQuestion:
        thread = await self._thread(caller, body.session())
        now = self._parts.clock()
        # At the private door a person types, too.
        splits = self._splits or caller.private
        split = split_message(body.message) if splits else SplitMessage(question=body.message)
        question = IncomingQuestion(
            key=caller.key(thread),
            message_id=message_id,
            asker_id=caller.owner,
            question=body.question(thread, message=split.question, paste=split.context),
            original_length=split.original_length,
            heard_at=now,
            position=f"{int(now.timestamp() * 1_000_000):020d}",
            books=await self._reading.named(caller, body.book_ids),
            locale=locale,
        )
        await self._check_module(caller, question)
        return question

    def _heard_before(self, last_event: str) -> tuple[str, int] | None:
        """The message and the number of the last event heard; 0 if an earlier process sent it."""
        found = EVENT_ID.fullmatch(last_event)
        if found is None:
            return None
        message_id, run, number = found.groups()
        return message_id, int(number) if run == self._parts.replies.run else 0

    def event_id(self, asked: Asked, event: HubEvent) -> str:
        return f"{asked.question.message_id}.{self._parts.replies.run}.{event.number}"

    async def revise(
        self, body: ChatBody, caller: Caller, message_id: str, *, locale: str = "en"
    ) -> None:
        """Put another text in the place of a question; its answer is heard anew."""
        question = await self._incoming(body, caller, message_id, locale=locale)
        self._parts.replies.forget_question(question.identity)
        await self._parts.desk.revise(question)

    async def _thread(self, caller: Caller, session_id: UUID | None) -> UUID:
        """The session that the thread began with; a session nobody has begins a thread."""
        if session_id is None:
            return uuid4()
        state = await self._parts.conversations.find(session_id)
        if state is None:
            return session_id
        if not caller.owns_thread(state):
            raise not_found("thread")
        return UUID(state.key.thread_id)

    async def _check_module(self, caller: Caller, question: IncomingQuestion) -> None:
        module = question.question.filters.module
        if module is None:
            return
        books = question.books or await self._reading.default(caller)
        if books is None:
            return
        filters = await self._reading.filters(caller)
        known = await self._parts.retriever.modules(books=books, filters=filters)
        if module not in known:
            listed = ", ".join(known) or "none: these books have no modules"
            raise invalid("module", f"module must be one of: {listed}.", listed)

    async def events(self, asked: Asked) -> AsyncGenerator[HubEvent, None]:
        """What is heard of a question, one by one, up to its answer."""
        async with aclosing(self.batches(asked)) as batches:
            async for events in batches:
                for event in events:
                    yield event

    async def batches(self, asked: Asked) -> AsyncGenerator[Sequence[HubEvent], None]:
        """What is heard of a question; what came meanwhile comes together. A Final ends it.

        The database is looked at too: another process may give the answer, or has given it."""
        loop = asyncio.get_running_loop()
        last, deadline = asked.after, loop.time() + self._wait_seconds
        with self._parts.replies.listening(asked.question) as topic:
            if asked.repeated:
                await self._look(asked, topic)
            while loop.time() < deadline:
                events = await topic.wait(last, at_most=self._poll_seconds)
                if not events and topic.excuse:
                    raise unavailable(topic.excuse)
                if not events and asked.in_one_piece and self._parts.replies.is_leaving:
                    raise unavailable(RESTARTS.format(thread=asked.question.key.thread_id))
                if not events:
                    await self._look(asked, topic)
                    continue
                yield events
                if isinstance(events[-1], Final):
                    return
                last = events[-1].number
        raise Problem(
            504,
            "The answer takes longer than this request may wait."
            f" It will stand in the thread {asked.question.key.thread_id}.",
        )

    async def _look(self, asked: Asked, topic: Topic) -> None:
        """Tell the topic what the database knows of the question."""
        try:
            state = await self._parts.answers.state_of(asked.question_id)
            if state is None:
                return
            # While a question is answered anew its old answer is still there.
            response = (
                await self._parts.answers.response_to(asked.question_id) if state.is_final else None
            )
            if response is not None:
                topic.end(document_text(response))
            else:
                await topic.stage(state)
        except StorageError as error:
            log.warning(
                "answer not looked up",
                extra={"question_id": str(asked.question_id), "cause": type(error).__name__},
            )
