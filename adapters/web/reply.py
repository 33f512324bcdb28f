"""Carries answers from the desk to whoever waits for them at the web door."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from rag_core.conversation.key import ConversationKey
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity
from rag_core.desk.outgoing import OutgoingPart
from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import StorageFull

KEPT_EVENTS = 1_000
"""Events of one question that a returning client can be given again one by one."""
KEPT_TOPICS = 200
"""Questions nobody listens to whose events are still remembered."""

NO_SPACE = (
    "The answer could not be stored: there is no space left for the database."
    " Once the operator has freed some, ask again."
)
NOT_STORED = "The answer could not be stored. Ask again in a moment."

ORDER = {
    QuestionState.PENDING: 0,
    QuestionState.RETRIEVING: 1,
    QuestionState.GENERATING: 2,
}
"""Stages only go forward; a second attempt at a question does not take them back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A question has come to a new state."""

    number: int
    state: QuestionState
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The next few characters of an answer; `restart` empties what was shown."""

    number: int
    delta: str
    restart: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """The answer as JSON; nothing comes after it."""

    number: int
    document: str


HubEvent = Stage | Text | Final


class Topic:
    """What is heard of one question: a Progress to the desk, a history to its listeners."""

    def __init__(self, key: ConversationKey) -> None:
        self.key = key
        self._events: deque[HubEvent] = deque(maxlen=KEPT_EVENTS)
        self._last = 0
        self._stages: list[tuple[QuestionState, str]] = []
        self._text = ""
        self._changed = asyncio.Event()
        self.listeners = 0
        self.ended = False
        self.excuse = ""
        """Why the answer does not come now; empty while it may."""

    async def begin(self) -> None:
        """Another attempt at the question starts with nothing written."""
        self.excuse = ""
        if self._text:
            await self.text("", restart=True)

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        passed = ORDER[self._stages[-1][0]] if self._stages else -1
        if self.ended or ORDER.get(state, -1) <= passed:
            return
        self._stages.append((state, detail))
        self._publish(Stage(number=self._last + 1, state=state, detail=detail))

    async def text(self, delta: str, *, restart: bool = False) -> None:
        if self.ended:
            return
        self._text = delta if restart else self._text + delta
        self._publish(Text(number=self._last + 1, delta=delta, restart=restart))

    def end(self, document: str) -> None:
        """The final answer; posting it again changes nothing."""
        if not self.ended:
            self.ended = True
            self._publish(Final(number=self._last + 1, document=document))

    def replace(self, document: str) -> None:
        """Another answer in the place of the one that was heard."""
        self.ended = True
        self._publish(Final(number=self._last + 1, document=document))

    def give_up(self, excuse: str) -> None:
        """This attempt has failed: who listens need not wait for it."""
        self.excuse = excuse
        self.wake()

    def _publish(self, event: HubEvent) -> None:
        self._last = event.number
        self._events.append(event)
        self.wake()

    def wake(self) -> None:
        """Whoever waits looks up."""
        self._changed.set()
        self._changed = asyncio.Event()

    def after(self, number: int) -> Sequence[HubEvent]:
        """What came after an event; all of it at once where that event is not known any more.

        Who heard the end and asks again, as browsers do by themselves, hears the end again."""
        if number > self._last:
            return self._summary()
        if self.ended and number == self._last:
            return [self._events[-1]]
        if self._events and number < self._events[0].number - 1:
            return self._summary()
        return [event for event in self._events if event.number > number]

    def _summary(self) -> Sequence[HubEvent]:
        """Where the question stands, as if it had been heard from the start."""
        stages = [Stage(number=0, state=state, detail=detail) for state, detail in self._stages]
        if self.ended:
            return [*stages, self._events[-1]]
        return [*stages, Text(number=self._last, delta=self._text, restart=True)]

    async def wait(self, number: int, *, at_most: float) -> Sequence[HubEvent]:
        """The next events after this one, or none when the time is up."""
        changed = self._changed
        if events := self.after(number):
            return events
        try:
            async with asyncio.timeout(at_most):
                await changed.wait()
        except TimeoutError:
            return ()
        return self.after(number)


class WebReplies:
    """The reply channel of the browser, of HTTP and of the private door.

    What is posted here is already in the database: a listener who leaves loses nothing, and a
    part that is posted again is heard once.
    """

    def __init__(self) -> None:
        self._topics: OrderedDict[MessageIdentity, Topic] = OrderedDict()
        self.run = secrets.token_hex(4)
        """Tells this process's event numbers from those of the one before."""
        self.is_leaving = False
        """Whether nothing more is answered here: the next process does."""

    def leave(self) -> None:
        """Who waits for one answer in one piece is told; a stream is taken up again elsewhere."""
        self.is_leaving = True
        for topic in self._topics.values():
            topic.wake()

    @asynccontextmanager
    async def progress(self, question: IncomingQuestion) -> AsyncIterator[Progress]:
        with self.listening(question) as topic:
            await topic.begin()
            yield topic

    def open_notice(self, question: IncomingQuestion) -> bool:
        """Nothing stands here that an answer would have to take away."""
        return False

    def close_notice(self, question: IncomingQuestion) -> None:
        """None was opened."""

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        with self.listening(question) as topic:
            topic.end(part.payload)
        return question.message_id

    async def find(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        """Nobody can have lost sight of it: posting here again is heard once."""
        return None

    async def edit(self, question: IncomingQuestion, part: OutgoingPart) -> None:
        with self.listening(question) as topic:
            topic.replace(part.payload)

    async def remove(self, question: IncomingQuestion, external_id: str) -> None:
        self._topics.pop(question.identity, None)

    async def clear(self, question: IncomingQuestion) -> None:
        """Only who listens is shown anything before an answer."""

    async def excuse(self, question: IncomingQuestion, error: Exception) -> None:
        with self.listening(question) as topic:
            topic.give_up(NO_SPACE if isinstance(error, StorageFull) else NOT_STORED)

    @contextmanager
    def listening(self, question: IncomingQuestion) -> Iterator[Topic]:
        """The question's topic, kept at least as long as somebody holds it."""
        topic = self._topics.setdefault(question.identity, Topic(question.key))
        self._topics.move_to_end(question.identity)
        topic.listeners += 1
        try:
            yield topic
        finally:
            topic.listeners -= 1
            self._forget_oldest()

    @property
    def remembered(self) -> int:
        """How many questions there is something known of."""
        return len(self._topics)

    def forget(self, key: ConversationKey) -> None:
        """Drop what is remembered of a thread."""
        for identity in [name for name, topic in self._topics.items() if topic.key == key]:
            del self._topics[identity]

    def forget_question(self, identity: MessageIdentity) -> None:
        """Drop what is remembered of a question, for it is asked anew."""
        self._topics.pop(identity, None)

    def forget_all(self) -> None:
        """Drop what is remembered of questions that nobody listens to."""
        self._topics = OrderedDict(
            (identity, topic) for identity, topic in self._topics.items() if topic.listeners
        )

    def _forget_oldest(self) -> None:
        unheard = [key for key, topic in self._topics.items() if not topic.listeners]
        for identity in unheard[: max(0, len(unheard) - KEPT_TOPICS)]:
            del self._topics[identity]
