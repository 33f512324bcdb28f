"""What a question asks for: a number, a person, a definition, or how something is done."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from rag_core.agent.blocks import BlockKind
from rag_core.agent.quotable import Unit
from rag_core.agent.words import content, stems

AMOUNT = re.compile(
    r"\b(?:how (?:many|much|long|often|old|far|big|large|tall|high|hot|cold|heavy|fast|deep|soon)"
    r"|when|what (?:year|date|number|percentage|time|age|size|temperature)|which year)\b",
    re.IGNORECASE,
)
PERSON = re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)
HOW_TO = re.compile(
    r"\bhow (?:do|can|to|should|would|does one)\b|\bsteps?\b|\binstall|\bexamples?\b"
    r"|\bwhich command\b|\blook like\b",
    re.IGNORECASE,
)
MEANING = re.compile(
    r"^\W*(?:what|who)(?:'s| is| are| was| were| does) (?:an? |the )?(.+?)(?: mean)?\W*$",
    re.IGNORECASE,
)
LIST = re.compile(r"\b(?:which|what (?:are|kinds?|types?|sorts?)|list|name the)\b", re.IGNORECASE)
TROUBLE = re.compile(
    r"\b(?:not|never|n't|troubleshoot\w*|errors?|problems?|fail(?:s|ed|ure|ures)?|wrong|broken)\b"
    r"|n't\b",
    re.IGNORECASE,
)
DIGIT = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand)\b",
    re.IGNORECASE,
)
CAPITAL = re.compile(r"(?<=[\w,;(] )[A-Z]\w+")
DEFINES = re.compile(
    r"^(?:an? |the )?(?P<subject>[^.,;:]{1,60}?)\s*(?:\([^)]*\)\s*)?,?\s"
    r"(?:is|are|was|were|means?|refers? to|stands? for|describes?|consists? of)\s",
    re.IGNORECASE,
)
ANNOUNCES = re.compile(
    r"\b(?:in this (?:chapter|lesson|module|section|page)|you(?:'ll| will) (?:learn|see|write)"
    r"|let's|we(?:'ll| will) (?:learn|look|see))\b",
    re.IGNORECASE,
)
AIMS = re.compile(
    r"\b(?:objectives?|goals|aims|prerequisites|takeaways"
    r"|what you(?:'ll| will) (?:learn|see|build|need)|what you can do after\w*)\b",
    re.IGNORECASE,
)
"""Headings of what a page is for, not of what it says."""
MAX_MEANT = 4
"""A question of the form `what is …` about more words than this asks for a fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, read for what would answer it."""

    words: tuple[str, ...]
    pairs: frozenset[tuple[str, str]]
    meant: frozenset[str]
    """The words of what is to be explained; empty where no meaning is asked for."""
    wants_amount: bool
    wants_person: bool
    wants_steps: bool
    wants_list: bool
    has_trouble: bool

    @classmethod
    def read(cls, question: str) -> Asked:
        meaning = MEANING.match(question)
        meant = frozenset(content(meaning.group(1))) if meaning else frozenset()
        return cls(
            words=tuple(dict.fromkeys(content(question))),
            pairs=frozenset(itertools.pairwise(stems(question))),
            meant=meant if len(meant) <= MAX_MEANT else frozenset(),
            wants_amount=bool(AMOUNT.search(question)),
            wants_person=bool(PERSON.search(question)),
            wants_steps=bool(HOW_TO.search(question)),
            wants_list=bool(LIST.search(question)),
            has_trouble=bool(TROUBLE.search(question)),
        )

    def suits(self, unit: Unit) -> float:
        """What a piece's form is worth as an answer."""
        return self._form(unit) - self._faults(unit)

    def _form(self, unit: Unit) -> float:
        if self.meant and self._defines(unit.text):
            return 0.3
        if self.wants_steps:
            return 0.12 if unit.is_steps else 0.0
        if self.wants_amount:
            return 0.15 if DIGIT.search(unit.text) else 0.0
        if self.wants_person:
            return 0.1 if CAPITAL.search(unit.text) else 0.0
        return -0.1 if unit.kind is BlockKind.CODE else 0.0

    def goes_on(self, unit: Unit, following: Unit) -> bool:
        """Whether what follows belongs to the answer: the list that was asked for, or the code."""
        wanted = self.wants_list or (self.wants_steps and following.is_steps)
        return (
            wanted
            and following.is_whole
            and following.passage is unit.passage
            and following.section == unit.section
            and following.place == unit.place + 1
        )

    def _defines(self, text: str) -> bool:
        defined = DEFINES.match(text.strip("*_ \n"))
        return defined is not None and self.meant <= set(content(defined["subject"]))

    def _faults(self, unit: Unit) -> float:
        """Questions and announcements answer nothing; help with trouble only where there is any."""
        asks = not unit.is_whole and unit.text.rstrip("*_ ").endswith("?")
        beside = not self.has_trouble and bool(TROUBLE.search(unit.section))
        aims = bool(AIMS.search(unit.section)) and not AIMS.search(" ".join(self.words))
        announces = 0.15 * bool(ANNOUNCES.search(unit.text))
        return 0.3 * asks + announces + 0.2 * beside + 0.4 * aims
