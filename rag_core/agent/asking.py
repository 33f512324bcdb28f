"""What a question asks for: a number, a person, a definition, or how something is done."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from rag_core.agent.blocks import BlockKind
from rag_core.agent.quotable import Unit
from rag_core.agent.sentences import sentences_of
from rag_core.agent.words import content, stems
from rag_core.retrieval.codes import codes_in, pattern_of

AMOUNT = re.compile(
    r"\b(?:how (?:many|much|long|often|old|far|big|large|tall|high|hot|cold|heavy|fast|deep|soon)"
    r"|when|what (?:year|date|number|percentage|time|age|size|temperature)|which year)\b",
    re.IGNORECASE,
)
WHEN = re.compile(
    r"\bhow (?:often|soon)\b|\bwhen\b|\b(?:what|which) (?:year|month|day|date|time|century)\b",
    re.IGNORECASE,
)
TIME = re.compile(
    r"\b\d{1,2}:\d\d\b|\b1\d{3}s?\b|\b20\d\ds?\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\b(?:\d[\d.,]*(?:st|nd|rd|th)?|[a-z]+)[ -](?:working )?(?:seconds?|minutes?|min|hours?|days?"
    r"|nights?|weeks?|months?|quarters?|years?|decades?|centur(?:y|ies)|times)\b"
    r"|\b(?:daily|weekly|monthly|yearly|noon|midnight|once|twice)\b",
    re.IGNORECASE,
)
PERSON = re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)
HOW_TO = re.compile(
    r"\bhow (?:do|can|to|should|would|does one)\b|\bsteps?\b|\binstall|\bexamples?\b"
    r"|\blook like\b",
    re.IGNORECASE,
)
ASKS = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how|list|name|define|explain|describe|show"
    r"|compare)\b",
    re.IGNORECASE,
)
WH = re.compile(
    r"\W*(?:(?:and|but|so|from|to|in|on|at|for|by|of|with) )*"
    r"(?:what|which|who|whom|whose|when|where|why|how)\b",
    re.IGNORECASE,
)
CODE_WORD = re.compile(
    r"\b(?:code|commands?|options?|flags?|functions?|methods?|class|syntax|snippet|scripts?|yaml|json"
    r"|files?|write|written|run|use|called?)\b",
    re.IGNORECASE,
)
"""Words of those who would like to see code, too."""
PARTED = re.compile(r"(?<=[a-z]) (?=\d)")
COMMAND = re.compile(
    r"\b(?:what|which)(?: \w+)? (?:command|option|flag)s?\b|\bcommand(?: line)? (?:to|for|that)\b",
    re.IGNORECASE,
)
REASON = re.compile(
    r"\bwhy\b|\bhow come\b|\bwhat (?:for|happens)\b|\b(?:explain|describe|compare)\b"
    r"|\bdifferences?\b|\bhow (?:is|are|was|were|does)\b",
    re.IGNORECASE,
)
"""What one sentence seldom answers."""
COMPARES = re.compile(
    r"\b(?:differences?|differs?|different(?: from| to| than)?|compared?|comparison|versus|vs"
    r"|better|worse|instead of|rather than)\b|\bor\b.*\?",
    re.IGNORECASE,
)
MEANING = re.compile(
    r"^\W*(?:(?:what|who)(?:'s| is| are| was| were| does)|define|explain|describe|meaning of)"
    r" (?:an? |the )?(.+?)(?: mean| stand for)?\W*$",
    re.IGNORECASE,
)
LIST = re.compile(
    r"\bwhich (?:(?:\d+|two|three|four|five|six|seven|eight|nine|ten|other|different) )?"
    r"\w*[^\Ws]s\b(?! (?:is|was|does|has|stands|means)\b)"
    r"|\b(?:what (?:are|kinds?|types?|sorts?)|list|name the|which of)\b",
    re.IGNORECASE,
)
TROUBLE = re.compile(
    r"\b(?:not|never|n't|troubleshoot\w*|errors?|problems?|fail(?:s|ed|ure|ures)?|wrong|broken)\b"
    r"|n't\b",
    re.IGNORECASE,
)
DIGIT = re.compile(
    r"\d[\w.,:]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand)\b",
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
    r"|this (?:chapter|lesson|module|section|page|guide) (?:is about|explains|shows|covers)"
    r"|let['’]s|we(?:['’]ll| will) (?:\w+ )?(?:learn|look|see|discuss|define|cover|explore)"
    r"|(?:we|you) (?:saw|discussed|covered|learned|talked)|for more (?:info|information|details)"
    r"|(?:listing|figure|table) \d[\d.-]* shows?"
    r"|you should (?:now )?be able to|before (?:moving|proceeding|going) (?:on )?to)\b",
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
    last: frozenset[str]
    """The words of the last sentence: it asks, and those before it tell what about."""
    pairs: frozenset[tuple[str, str]]
    compounds: Mapping[str, frozenset[str]]
    """Two words side by side as the one that they may be written as: `roll back`, `rollback`."""
    meant: frozenset[str]
    """The words of what is to be explained; empty where no meaning is asked for."""
    wants_amount: bool
    wants_time: bool
    wants_person: bool
    wants_steps: bool
    wants_list: bool
    wants_command: bool
    wants_reason: bool
    compares: bool
    wants_code: bool
    has_trouble: bool
    codes: tuple[re.Pattern[str], ...]
    """K44 and the like, in whichever way they may be written."""

    @classmethod
    def read(cls, question: str) -> Asked:
        last = [sentence for sentence in sentences_of(question) if content(sentence)][-1:]
        asks = last[0] if last and ASKS.search(last[0]) else question
        meaning = MEANING.match(asks.strip())
        meant = frozenset(content(meaning.group(1))) if meaning else frozenset()
        return cls(
            words=tuple(dict.fromkeys(content(question))),
            last=frozenset(content(last[0])) if last else frozenset(),
            pairs=frozenset(itertools.pairwise(stems(question))),
            compounds={a + b: frozenset((a, b)) for a, b in itertools.pairwise(stems(question))},
            meant=meant if len(meant) <= MAX_MEANT else frozenset(),
            wants_amount=bool(AMOUNT.search(asks)),
            wants_time=bool(WHEN.search(asks)),
            wants_person=bool(PERSON.search(asks)),
            wants_steps=bool(HOW_TO.search(asks)),
            wants_list=bool(LIST.search(asks)),
            wants_command=bool(COMMAND.search(asks)),
            wants_reason=bool(REASON.search(asks)),
            compares=bool(COMPARES.search(asks)),
            wants_code=not WH.match(asks) or bool(HOW_TO.search(asks) or CODE_WORD.search(asks)),
            has_trouble=bool(TROUBLE.search(question)),
            codes=tuple(map(pattern_of, codes_in(question))),
        )

    def suits(self, unit: Unit) -> float:
        """What a piece's form is worth as an answer."""
        return self._form(unit) - self._faults(unit)

    def _form(self, unit: Unit) -> float:
        if self.meant and self._defines(unit.text):
            return 0.3
        if self.meant and unit.opens_section and self.meant == subject_of(unit.section):
            return 0.15
        if self.wants_command:
            return 0.25 if unit.has_command else 0.0
        if self.wants_steps:
            return 0.12 if unit.is_steps else 0.08 * unit.has_command
        if self.wants_amount:
            return 0.15 if self.has_form(unit.text) else 0.0
        if self.wants_person:
            return 0.15 if self.has_form(unit.text) else 0.0
        return -0.1 if unit.kind is BlockKind.CODE else 0.0

    def has_form(self, text: str) -> bool:
        """Whether a text has what is asked for by its form, and the question does not say it."""
        if self.wants_amount:
            form = TIME if self.wants_time else DIGIT
            return any(self._is_new(found) for found in form.finditer(text))
        if self.wants_person:
            return any(self._is_new(found) for found in CAPITAL.finditer(text))
        return True

    def _is_new(self, found: re.Match[str]) -> bool:
        return not set(content(found.group())) <= set(self.words)

    def excludes(self, unit: Unit) -> bool:
        """Whether a piece may be about the matter and yet not stand beside an answer."""
        is_code = unit.kind is BlockKind.CODE
        unwanted = not unit.has_command if self.wants_command else not self.wants_code
        return announces(unit) or asks_back(unit) or leads_on(unit) or (is_code and unwanted)

    def names_codes_of(self, unit: Unit) -> bool:
        """Whether a piece has every code that is asked about: nothing else tells what it means."""
        text = PARTED.sub("", f"{unit.text} {unit.headings}".lower())
        return all(code.search(text) for code in self.codes)

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
        """Questions, announcements and lines that only lead on answer nothing; help with trouble
        does only where there is any."""
        beside = not self.has_trouble and bool(TROUBLE.search(unit.section))
        aims = bool(AIMS.search(unit.section)) and not AIMS.search(" ".join(self.words))
        return (
            0.3 * asks_back(unit)
            + 0.15 * announces(unit)
            + 0.2 * beside
            + 0.4 * aims
            + 0.3 * leads_on(unit)
        )


def subject_of(heading: str) -> frozenset[str]:
    """What a section is about, by its heading: `What is ROS 2?` is about ROS 2."""
    meaning = MEANING.match(heading)
    return frozenset(content(meaning.group(1) if meaning else heading))


def announces(unit: Unit) -> bool:
    """Whether this says what will be told, or was told elsewhere."""
    return unit.kind is not BlockKind.CODE and bool(ANNOUNCES.search(unit.lead or unit.parts[0]))


def asks_back(unit: Unit) -> bool:
    """Whether this is a question itself, or a list of them."""
    if unit.kind is BlockKind.CODE:
        return False
    return all(line.rstrip("*_ |").endswith("?") for line in unit.lines)


def leads_on(unit: Unit) -> bool:
    """Whether this only leads to something that is not part of it."""
    return not unit.is_whole and unit.text.rstrip("*_ ").endswith(":")
