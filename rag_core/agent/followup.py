"""What a follow-up is searched by: a message that says little by itself takes its thread along."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.agent.language.languages import LANGUAGES_OF
from rag_core.agent.language.words import says_something, words
from rag_core.agent.smalltalk import small_talk
from rag_core.conversation.message import Message, Role

FEW = 3
"""Words of its own below which a message says too little to be searched by itself."""
MAX_JOINED = 1_000
MAX_CARRIED = 400
"""Characters of what was searched for before; its beginning names the topic."""


def search_text(message: str, *, last: str, section: str, error: str = "") -> str:
    """The message, where it says little by itself with what helps to find what it means: the error
    that was pasted with it, else what was searched for last and the section cited for it."""
    if not says_little(message) or message in last:
        return message
    carried = error or " ".join(dict.fromkeys(filter(None, (last[:MAX_CARRIED], section))))
    return f"{carried} {message}"[:MAX_JOINED].strip()


def says_little(message: str) -> bool:
    """Whether few of the words carry meaning, in any of the languages whose small words are
    known."""
    own = {word for word in words(message) if says_something(word) and word not in LANGUAGES_OF}
    return len(own) < FEW


def last_question(turns: Sequence[Sequence[Message]]) -> str:
    """The last thing asked that was not small talk."""
    asked = earlier_questions(turns)
    return asked[-1] if asked else ""


def earlier_questions(turns: Sequence[Sequence[Message]]) -> tuple[str, ...]:
    """What was asked in the thread, in order, without small talk."""
    return tuple(
        message.content
        for turn in turns
        for message in turn
        if message.role is Role.USER and small_talk(message.content) is None
    )
