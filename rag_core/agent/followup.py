"""A follow-up as a question that stands alone, by rules over the thread."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.agent.smalltalk import small_talk
from rag_core.agent.words import content, words
from rag_core.conversation.message import Message, Role

OPENING = re.compile(
    r"(?:(?:can|could|would|will) you (?:please )?|please )?"
    r"(?:and|but|so|also|or|then|what about|how about|what if|why(?: not| so| is that)?|how so"
    r"|how come|really|like what|such as|for example|give (?:me )?(?:an?|another|some|more)"
    r"|show (?:me )?(?:an?|another|some|more)|an? example|more (?:about|on|details?)|tell me more"
    r"|go on|continue|explain|elaborate|same (?:for|in|with)|und|aber|warum|wieso|und wie|y|pero"
    r"|por qu[eé]|et|mais|pourquoi)\b",
    re.IGNORECASE,
)
POINTER = re.compile(
    r"\b(?:it|its|that|this|these|those|they|them|their|he|she|him|her|his|there|one|ones"
    r"|the (?:first|second|third|fourth|last|latter|former|other|same|next|previous)(?: one)?"
    r"|another|instead|else|above|before|again|too|as well|otherwise)\b",
    re.IGNORECASE,
)
ORDINALS = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3}
CHOICE = re.compile(
    r"\b(?:the )?(first|second|third|fourth|1st|2nd|3rd|last)(?: (?:one|option|point|step|way))\b",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+(.+)$", re.MULTILINE)
LONG_ENOUGH = 6
"""A question with so many words of its own that only a pointer makes it a follow-up."""
MAX_JOINED = 1_000


def standalone(message: str, turns: Sequence[Sequence[Message]], *, carried: str = "") -> str:
    """The message so that it can be understood without its thread; a new topic is left alone.

    `carried` is the last question as it was understood, where the thread remembers it."""
    last = carried or last_question(turns)
    if not last or not is_followup(message, last):
        return message
    named = chosen(message, last_answer(turns))
    joined = " ".join(part for part in (closed(last), named, message) if part)
    return joined if len(joined) <= MAX_JOINED else message


def is_followup(message: str, last: str) -> bool:
    """Whether a message leans on the one before it."""
    if small_talk(message) is not None:
        return False
    own = set(content(message))
    if own and own <= set(content(last)) and len(own) >= 3:
        return False  # the question again, in other words
    if OPENING.match(message.strip()):
        return len(own) < LONG_ENOUGH
    if len(own) <= 1 and len(words(message)) <= 4:
        return True
    return bool(POINTER.search(outside_clauses(message))) and len(own) <= LONG_ENOUGH


def outside_clauses(message: str) -> str:
    """The message without uses of `it`, `that` and `there` that point at nothing before it."""
    return re.sub(
        r"\b(?:there (?:is|are|a)|is there|are there|(?:is|was) it (?:possible|true|ok)"
        r"|(?<=\w )that(?= \w+(?:s|ed)?\b)|this (?:book|course|chapter|lesson|page|guide)"
        r"|the first time|no one|one of|each other)\b",
        " ",
        message,
        flags=re.IGNORECASE,
    )


def last_question(turns: Sequence[Sequence[Message]]) -> str:
    """The last thing asked that was not small talk."""
    for turn in reversed(turns):
        for message in turn:
            if message.role is Role.USER and small_talk(message.content) is None:
                return message.content
    return ""


def earlier_questions(turns: Sequence[Sequence[Message]]) -> tuple[str, ...]:
    """What was asked in the thread, in order, without small talk."""
    return tuple(
        message.content
        for turn in turns
        for message in turn
        if message.role is Role.USER and small_talk(message.content) is None
    )


def last_answer(turns: Sequence[Sequence[Message]]) -> str:
    said = [message.content for message in turns[-1]] if turns else []
    return said[-1] if len(said) > 1 else ""


def chosen(message: str, answer: str) -> str:
    """The item of the last answer's list that the message points at, if it does."""
    choice = CHOICE.search(message)
    items = NUMBERED.findall(answer)
    if not choice or not items:
        return ""
    place = -1 if choice.group(1).lower() == "last" else ORDINALS[choice.group(1).lower()]
    return closed(str(items[place])[:200]) if place < len(items) else ""


def closed(text: str) -> str:
    """A sentence with its end, so that the next one can follow."""
    text = text.strip()
    return text if not text or text[-1] in ".!?…" else text + "."
