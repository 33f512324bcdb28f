"""Who talks in a thread, and which questions there a person may answer before the bot does."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from rag_core.agent.requests import states_something
from rag_core.conversation.key import ConversationKey
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity

Key = TypeVar("Key")
Value = TypeVar("Value")

THREADS = 5_000
MESSAGES = 20
"""The newest of a thread; who wrote none of them has left the conversation."""
WAITING = 5_000


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a person."""

    message_id: str
    author_id: str


class ThreadTalk:
    """Remembers the newest messages of each thread and the questions that wait; the oldest are
    forgotten.

    Only a person's answer to that very question stands it down: a reply to its message, or, where
    two people talk alone, a statement right after it. What asks, and small talk, is no answer."""

    def __init__(self) -> None:
        self._threads: OrderedDict[ConversationKey, deque[Said]] = OrderedDict()
        self._askers: OrderedDict[ConversationKey, set[str]] = OrderedDict()
        self._own: OrderedDict[ConversationKey, None] = OrderedDict()
        self._waiting: OrderedDict[MessageIdentity, IncomingQuestion] = OrderedDict()

    def hear(
        self, message: IncomingQuestion, *, text: str, in_thread: bool, replies_to: str = ""
    ) -> Sequence[MessageIdentity]:
        """Note a person's message; which waiting questions of others it answers, each once."""
        said: Sequence[Said] = self._threads.get(message.key, ())
        if any(known.message_id == message.message_id for known in said):
            return []
        answered: list[IncomingQuestion] = []
        if states_something(text):
            if replies_to:
                answered = self._replied_to(message, replies_to)
            elif in_thread:
                answered = self._exchanged(message, said)
        if in_thread:
            self._said_in(message.key).append(Said(message.message_id, message.asker_id))
        for question in answered:
            self.begin(question)
        return [question.identity for question in answered]

    def ask(self, question: IncomingQuestion, *, may_be_answered_by_others: bool) -> None:
        """A question was accepted; who asks is in its thread from now on."""
        said = self._said_in(question.key)
        if all(known.message_id != question.message_id for known in said):
            said.append(Said(question.message_id, question.asker_id))
        askers = self._askers.get(question.key, set()) | {question.asker_id}
        _keep(self._askers, question.key, askers, most=THREADS)
        if question.message_id == question.key.thread_id:
            _keep(self._own, question.key, None, most=THREADS)
        if may_be_answered_by_others:
            _keep(self._waiting, question.identity, question, most=WAITING)

    def begin(self, question: IncomingQuestion) -> None:
        """The bot begins to answer: nobody can be quicker any more."""
        self._waiting.pop(question.identity, None)

    def forget(self, asker_id: str | None) -> None:
        """Drop what is remembered of one person, or of everybody."""
        if asker_id is None:
            for memory in (self._threads, self._askers, self._own, self._waiting):
                memory.clear()
            return
        for question in list(self._waiting.values()):
            if question.asker_id == asker_id:
                self.begin(question)
        for askers in self._askers.values():
            askers.discard(asker_id)
        for key, said in list(self._threads.items()):
            others = (each for each in said if each.author_id != asker_id)
            self._threads[key] = deque(others, maxlen=MESSAGES)

    def has_others(self, key: ConversationKey, author_id: str) -> bool:
        """Whether people other than this one write in the thread."""
        return any(said.author_id != author_id for said in self._threads.get(key, ()))

    def has_asked(self, key: ConversationKey, author_id: str) -> bool:
        """Whether this person asked the bot in the thread. Where nobody is known to have, as after
        a restart, it may have been anybody."""
        askers = self._askers.get(key)
        return askers is None or author_id in askers

    def began_with_question(self, key: ConversationKey) -> bool:
        """Whether the first message of the thread was a question to the bot, asked lately."""
        return key in self._own

    def _said_in(self, key: ConversationKey) -> deque[Said]:
        said = self._threads.get(key) or deque[Said](maxlen=MESSAGES)
        _keep(self._threads, key, said, most=THREADS)
        return said

    def _replied_to(self, message: IncomingQuestion, replies_to: str) -> list[IncomingQuestion]:
        return [
            question
            for question in self._waiting.values()
            if question.message_id == replies_to
            and question.key.tenant == message.key.tenant
            and question.key.channel_id == message.key.channel_id
            and question.asker_id != message.asker_id
        ]

    def _exchanged(self, message: IncomingQuestion, said: Sequence[Said]) -> list[IncomingQuestion]:
        """The asker's last question and what they said to it since, where only two people talk."""
        authors = {each.author_id for each in said} | {message.asker_id}
        if len(authors) != 2 or not said or said[-1].author_id == message.asker_id:
            return []
        run: list[IncomingQuestion] = []
        for each in reversed(said):
            question = self._found(message, each)
            if each.author_id == message.asker_id or question is None:
                break
            run.append(question)
            if not states_something(question.question.message):
                return run
        return []

    def _found(self, message: IncomingQuestion, said: Said) -> IncomingQuestion | None:
        """The waiting question that was asked before this message, in the same thread."""
        for question in self._waiting.values():
            same = question.key == message.key and question.message_id == said.message_id
            if same and question.position < message.position:
                return question
        return None


def _keep(kept: OrderedDict[Key, Value], key: Key, value: Value, *, most: int) -> None:
    """Put an entry last, and drop the oldest where there are too many."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)
