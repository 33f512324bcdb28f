"""A question that asks several things at once, part by part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.agent.language.sentences import asked_sentences
from rag_core.agent.language.wordings import WH
from rag_core.agent.language.words import content

MAX_PARTS = 3
JOINS = re.compile(
    r",?\s+and\s+(?:also\s+|then\s+)?"
    r"(?=(?:how|what|where|when|why|who|which|can|could|may|must|should|does|do|is|are)\b)",
    re.IGNORECASE,
)
LEANS = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|one|ones|he|she|him|her|his|there|then)\b"
    r"|^\W*(?:and|or|but)\b",
    re.IGNORECASE,
)
STATES = re.compile(
    r"\W*(?:i|i['’]?(?:m|ve|d)|we|my|our|he|she|they|it|there)\b(?=[^?]*\s[^?]*\s[^?]*$)",
    re.IGNORECASE,
)
"""How somebody tells of themselves or others, in three words and more."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that are asked, and what it is about where it does not say so itself."""

    text: str
    about: str = ""

    @property
    def whole(self) -> str:
        return f"{self.about} {self.text}".strip()


def parts_of(question: str, earlier: Sequence[str] = ()) -> tuple[Part, ...]:
    """What is asked now, one by one; a question that asks one thing is one part.

    Sentences that somebody asked earlier in the thread stand before a follow-up only to tell what
    it is about."""
    sentences = [one.strip() for one in asked_sentences(question) if one.strip()]
    said = [one for one in sentences if any(one.rstrip(".!?…") in before for before in earlier)]
    now = [one for one in sentences if one not in said]
    asks = [part for one in now if asks_something(one) for part in clauses_of(one)]
    if not 1 < len(asks) <= MAX_PARTS or len(asks) < len([one for one in now if content(one)]):
        return (Part(question),)
    setting = " ".join(said)
    first = " ".join(filter(None, (setting, closed(asks[0]))))
    return (Part(asks[0], setting), *(Part(one, first if leans(one) else "") for one in asks[1:]))


def asks_something(sentence: str) -> bool:
    return sentence.endswith("?") or WH.match(sentence) is not None


def clauses_of(sentence: str) -> Iterator[str]:
    """`What is it and how do I start it?` in two; where one side says too little it is one."""
    pieces = JOINS.split(sentence)
    if WH.match(sentence) is None or not all(map(content, pieces)):
        pieces = [sentence]
    yield from pieces


def leans(part: str) -> bool:
    """Whether a part cannot be understood without the first one."""
    return LEANS.search(part) is not None or len(content(part)) < 2


def closed(part: str) -> str:
    return part if part.endswith("?") else f"{part}?"


def last_of(question: str) -> str:
    """The last sentence, or the one before where that asks and what follows only tells how it came
    to be asked: `I asked Peter, but he did not know.`"""
    sentences = [sentence for sentence in asked_sentences(question) if content(sentence)]
    while len(sentences) > 1 and states(sentences[-1]) and any(map(asks_something, sentences)):
        sentences.pop()
    return sentences[-1] if sentences else ""


def states(sentence: str) -> bool:
    return STATES.match(sentence) is not None and not asks_something(sentence)
