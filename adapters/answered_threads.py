"""Which threads the bot has answered in, so that it hears what is asked there next."""

from __future__ import annotations

from enum import StrEnum

from rag_core.conversation.key import ConversationKey
from rag_core.desk.incoming import IncomingQuestion
from rag_core.ports import MarkerStore


class Began(StrEnum):
    """How a thread began in which the bot has answered."""

    WITH_QUESTION = "question"
    """With a question to the bot."""
    AMONG_PEOPLE = "people"
    """The bot was called into it later."""


class AnsweredThreads:
    """Remembers, beyond a restart, every thread that holds an answer of the bot."""

    def __init__(self, markers: MarkerStore) -> None:
        self._markers = markers

    async def find(self, key: ConversationKey) -> Began | None:
        """How the thread began; None: it holds no answer of the bot."""
        value = await self._markers.get(_name(key))
        if value is None:
            return None
        among_people = value.startswith(Began.AMONG_PEOPLE)
        return Began.AMONG_PEOPLE if among_people else Began.WITH_QUESTION

    async def remember(
        self, key: ConversationKey, *, message_id: str, began: Began = Began.WITH_QUESTION
    ) -> None:
        """Note the first message that the bot posted in a thread."""
        if await self.find(key) is None:
            among_people = began is Began.AMONG_PEOPLE
            value = f"{began} {message_id}" if among_people else message_id
            await self._markers.set(_name(key), value)


def began_of(question: IncomingQuestion) -> Began:
    """How the thread of a question began."""
    is_first = question.message_id == question.key.thread_id
    return Began.WITH_QUESTION if is_first else Began.AMONG_PEOPLE


def _name(key: ConversationKey) -> str:
    return f"answered:{key}"
