"""A follow-up as a question that stands alone, by rules over the thread."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.agent.language.sentences import asked_sentences
from rag_core.agent.language.words import content, words
from rag_core.agent.smalltalk import small_talk
from rag_core.conversation.message import Message, Role

OPENING = re.compile(
    r"(?:and|but|so|also|or|then|what about|how about|what if|same (?:for|in|with)|und|aber|und wie"
    r"|y|pero|et|mais)\b",
    re.IGNORECASE,
)
"""How a message begins that goes on from what was said, whatever follows."""
REQUEST = re.compile(
    r"(?:(?:can|could|would|will) you (?:please )?|please )?"
    r"(?:why(?: not| so| is that)?|how so|how come|really|like what|such as|for example"
    r"|(?:give|show) (?:me )?(?:an?|another|some|more)(?: examples?)?|an? example"
    r"|more (?:about|on|details?)|tell me more|go on|continue|explain|elaborate|warum|wieso"
    r"|por qu[eé]|pourquoi)\b",
    re.IGNORECASE,
)
"""How a message begins that leans on the one before where it names nothing of its own."""
FINITE = re.compile(
    r"\b(?:is|are|was|were|am|be|do|does|did|can|could|may|might|must|should|shall|will|would|has"
    r"|have|had)\b|['’](?:s|re|ve|ll)\b",
    re.IGNORECASE,
)
EXISTS = re.compile(r"\b(?:is|are|was|were) there\b", re.IGNORECASE)
POINTER = re.compile(
    r"\b(?:it|its|that|this|these|those|they|them|their|he|she|him|her|his|there|one|ones"
    r"|the (?:first|second|third|fourth|last|latter|former|other|same|next|previous)(?: one)?"
    r"|another|instead|else|above|before|again|too|as well|otherwise)\b",
    re.IGNORECASE,
)
PRONOUN = re.compile(
    r"\b(?:it|its|that|this|these|those|they|them|their|he|she|him|her|his)\b", re.IGNORECASE
)
ORDINALS = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3}
CHOICE = re.compile(
    r"\b(?:the )?(first|second|third|fourth|1st|2nd|3rd|last)(?: (?:one|option|point|step|way))\b",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+(.+)$", re.MULTILINE)
LONG_ENOUGH = 6
"""A question with so many words of its own that only a pointer makes it a follow-up."""
SHORT = 4
FEW = 3
MAX_JOINED = 1_000
MAX_CARRIED = 3
"""Earlier questions that a follow-up carries along: the one that named the topic, and the last."""


def standalone(message: str, turns: Sequence[Sequence[Message]], *, carried: str = "") -> str:
    """The message so that it can be understood without its thread; a new topic is left alone.

    `carried` is the last question as it was understood, where the thread remembers it."""
    last = carried or last_question(turns)
    if not last or not is_followup(message, last):
        return message
    named = chosen(message, last_answer(turns))
    room = MAX_JOINED - len(named) - len(message) - 2
    joined = (shortened(closed(last), room), named, message)
    return " ".join(part for part in joined if part)


def sought(message: str, understood: str) -> str:
    """What a follow-up is searched by, beside its thread.

    One that says little without the question before it is searched with that one; what brings
    words of its own would only find again what the other found, and is searched by these."""
    return understood if says_little(message) else message


def says_little(message: str) -> bool:
    own = content(message)
    if not own or CHOICE.search(message):
        return True
    if OPENING.match(message.strip()):
        return len(own) < FEW
    return len(own) <= FEW and PRONOUN.search(outside_clauses(message)) is not None


def shortened(carried: str, room: int) -> str:
    """What was carried along, without the follow-ups in its middle: the topic and the newest."""
    parts = [sentence.strip() for sentence in asked_sentences(carried)]
    topic, later = parts[:1], parts[1:][-(MAX_CARRIED - 1) :]
    while later and len(" ".join((*topic, *later))) > room:
        later.pop(0)
    kept = " ".join((*topic, *later))
    return kept if len(kept) <= room else ""


def is_followup(message: str, last: str) -> bool:
    """Whether a message leans on the one before it."""
    if small_talk(message) is not None:
        return False
    own = set(content(message))
    if own and own <= set(content(last)) and len(own) >= 3:
        return False  # the question again, in other words
    if OPENING.match(message.strip()):
        return len(own) < LONG_ENOUGH
    if is_fragment(message) or asks_on(message):
        return True
    return bool(POINTER.search(outside_clauses(message))) and len(own) <= LONG_ENOUGH


def is_fragment(message: str) -> bool:
    """Whether a few words say too little by themselves: `In London?`, `How often?`, and not
    `Who may watch?`, which says who does what."""
    if len(content(message)) > 1 or len(words(message)) > SHORT:
        return False
    return not content(message) or not FINITE.search(message) or bool(EXISTS.search(message))


def asks_on(message: str) -> bool:
    """Whether a message asks for more, or for the reason, and names nothing of its own."""
    request = REQUEST.match(message.strip())
    if request is None:
        return False
    rest = message.strip()[request.end() :]
    return not content(rest) or (len(content(rest)) == 1 and not FINITE.search(message))


def outside_clauses(message: str) -> str:
    """The message without uses of `it`, `that` and `there` that point at nothing before it."""
    return re.sub(
        r"\b(?:there (?:is|are|a)|is there|are there|(?:is|was) it (?:possible|true|ok)"
        r"|(?<=\w )(?<!is )(?<!are )(?<!was )(?<!does )(?<!did )(?<!can )that(?= \w)"
        r"|this (?:book|course|chapter|lesson|page|guide)"
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
