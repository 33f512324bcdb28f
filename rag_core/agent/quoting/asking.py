"""What a question asks for: a number, a person, a definition, or how something is done."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from rag_core.agent.checks.denial import asks_denied
from rag_core.agent.checks.polarity import is_denied
from rag_core.agent.language import subject
from rag_core.agent.language.blocks import BlockKind
from rag_core.agent.language.wordings import (
    AIMS,
    AMOUNT,
    ASKS,
    CAPITAL,
    CASE,
    CODE_WORD,
    COMMAND,
    COMPARES,
    COUNTED_WITHIN,
    COUNTS,
    DEFINES,
    DIGIT,
    HOW_TO,
    LIST,
    MAX_MEANT,
    MEANING,
    MONEY,
    NEXT_WORDS,
    PARTED,
    PERSON,
    REASON,
    SUM,
    SUPPOSES,
    TIME,
    TROUBLE,
    WH,
    WHEN,
    WHY,
)
from rag_core.agent.language.words import (
    content,
    says_something,
    stem_of,
    stems,
    wholes_of,
    words,
)
from rag_core.agent.parts import last_of
from rag_core.agent.quoting.heads import counted_in, head_of, listed_in, subject_of
from rag_core.agent.quoting.pieces import Unit
from rag_core.agent.quoting.telling import announces, asks_back, leads_on
from rag_core.retrieval.codes import codes_in, pattern_of

LEAST_LISTED = 2
PERMITTING = frozenset(stems("may must allowed"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, read for what would answer it."""

    words: tuple[str, ...]
    spoken: frozenset[str]
    """All words of the question, small ones too."""
    about: tuple[str, ...]
    """Those of them that do not only ask."""
    last: frozenset[str]
    """The words of the last sentence: it asks, and those before it tell what about."""
    pairs: frozenset[tuple[str, str]]
    compounds: Mapping[str, frozenset[str]]
    """Two words side by side as the one that they may be written as: `roll back`, `rollback`."""
    meant: frozenset[str]
    """The words of what is to be explained; empty where no meaning is asked for."""
    head: frozenset[str]
    """The words of what is asked for of something: of `the voltage of the cell`, the voltage."""
    is_question: bool
    """Whether something is asked; a few words, or what is to be done, rather name a section."""
    wants_amount: bool
    wants_money: bool
    wants_time: bool
    counted: str
    """The stem of what is to be counted, as in `how many open pages are there`; else empty."""
    wants_person: bool
    wants_steps: bool
    wants_list: bool
    listed: str
    """The stem of what is to be listed, as in `what sensors does it have`; else empty."""
    wants_denied: bool
    """Whether it is asked what is not so."""
    supposes: bool
    """Whether it is asked what holds in some case."""
    wants_command: bool
    wants_reason: bool
    wants_cause: bool
    """Whether it is asked why: tables tell what is so, and never why."""
    compares: bool
    wants_code: bool
    has_trouble: bool
    codes: tuple[re.Pattern[str], ...]
    """K44 and the like, in whichever way they may be written."""

    @classmethod
    def read(cls, question: str) -> Asked:
        last = last_of(question)
        asks = last if ASKS.search(last) else question
        meaning = MEANING.match(asks.strip())
        meant = frozenset(content(meaning.group(1))) if meaning else frozenset()
        return cls(
            words=tuple(dict.fromkeys(content(question))),
            spoken=frozenset(stems(question)),
            about=subject.subject_of(question),
            last=frozenset(content(last)),
            pairs=frozenset(itertools.pairwise(stems(question))),
            compounds=compounds_of(question),
            meant=meant if len(meant) <= MAX_MEANT else frozenset(),
            head=head_of(meaning.group(1)) if meaning else frozenset(),
            is_question="?" in asks or WH.match(asks) is not None,
            wants_amount=bool(AMOUNT.search(asks)),
            wants_money=bool(MONEY.search(asks)),
            counted=counted_in(asks),
            wants_time=bool(WHEN.search(asks)),
            wants_person=bool(PERSON.search(asks)),
            wants_steps=bool(HOW_TO.search(asks)),
            wants_list=bool(LIST.search(asks)) or bool(listed_in(asks)),
            listed=listed_in(asks),
            wants_denied=asks_denied(question),
            supposes=bool(CASE.search(question)),
            wants_command=bool(COMMAND.search(asks)),
            wants_reason=bool(REASON.search(asks)),
            wants_cause=bool(WHY.search(asks)),
            compares=bool(COMPARES.search(asks)),
            wants_code=not WH.match(asks) or bool(HOW_TO.search(asks) or CODE_WORD.search(asks)),
            has_trouble=bool(TROUBLE.search(question)),
            codes=tuple(map(pattern_of, codes_in(question))),
        )

    def suits(self, unit: Unit) -> float:
        """What a piece's form is worth as an answer."""
        return self._form(unit) + self._permits(unit) + self._named(unit) - self._faults(unit)

    def _named(self, unit: Unit) -> float:
        """What a piece is worth more whose section is called just what is asked about."""
        named = frozenset(content(unit.section))
        return 0.25 * bool(named and named == frozenset(self.about))

    def _permits(self, unit: Unit) -> float:
        """Who asks what one may or must do is told by a sentence that says so."""
        return 0.1 * bool(self.spoken & PERMITTING & set(stems(unit.text)))

    def _form(self, unit: Unit) -> float:
        if self.meant and self._defines(unit.text):
            return 0.3
        if self.wants_denied:
            return 0.35 if is_denied(unit.text) else 0.0
        if self.listed and self._lists(unit):
            return 0.3
        if self.head and self._tells_value(unit.text):
            return 0.25
        if self.meant and unit.opens_section and self.meant == subject_of(unit.section):
            return 0.15
        if self.wants_command:
            return 0.25 if unit.has_command else 0.0
        if self.wants_steps:
            tells = unit.is_steps or self._begins_with_it(unit.text)
            return 0.12 if tells else 0.08 * unit.has_command
        if self.counted and self._counts(unit.text):
            return 0.35
        if self.wants_amount or self.wants_money:
            return 0.15 if self.has_form(unit.text) else 0.0
        if self.wants_person:
            return 0.15 if self.has_form(unit.text) else 0.0
        return -0.1 if unit.kind is BlockKind.CODE else 0.0

    def has_form(self, text: str) -> bool:
        """Whether a text has what is asked for by its form, and the question does not say it."""
        if self.wants_money:
            return SUM.search(text) is not None
        if self.wants_amount:
            form = TIME if self.wants_time else DIGIT
            return any(self._is_new(found) for found in form.finditer(text))
        if self.wants_person:
            return any(self._is_new(found) for found in CAPITAL.finditer(text))
        return True

    def _begins_with_it(self, text: str) -> bool:
        """Whether a sentence begins with what is to be done: `Report it to …`."""
        return (
            bool(set(content(text)[:1]) & set(self.words)) and stems(text)[:1] == content(text)[:1]
        )

    def _counts(self, text: str) -> bool:
        """Whether a number stands right before what is to be counted."""
        for found in COUNTS.finditer(text):
            following = words(text[found.end() : found.end() + NEXT_WORDS])[:COUNTED_WITHIN]
            if self.counted in map(stem_of, itertools.takewhile(says_something, following)):
                return stem_of(found.group().lower()) not in self.spoken
        return False

    def _lists(self, unit: Unit) -> bool:
        """Whether this is the list that was asked for, by the head of its first column, by the
        line that leads to it, or by its section."""
        if not unit.is_whole:
            return self.listed in content(unit.text.partition(":")[0]) and ": " in unit.text
        if unit.kind is BlockKind.CODE or len(unit.lines) < LEAST_LISTED:
            return False
        if unit.kind is BlockKind.TABLE:
            return self.listed in content(first_cell(unit.parts[0]))
        return self.listed in content(unit.lead or unit.section)

    def _is_new(self, found: re.Match[str]) -> bool:
        return not set(content(found.group())) <= set(self.words)

    def excludes(self, unit: Unit) -> bool:
        """Whether a piece may be about the matter and yet not stand beside an answer."""
        is_code = unit.kind is BlockKind.CODE
        unwanted = not unit.has_command if self.wants_command else not self.wants_code
        is_beside = self._is_beside(unit) or (is_code and unwanted)
        if self.wants_cause and unit.kind is BlockKind.TABLE:
            return True
        return announces(unit) or asks_back(unit) or leads_on(unit) or is_beside

    def _is_beside(self, unit: Unit) -> bool:
        """Whether a section helps with trouble that was not asked about."""
        if self.has_trouble or not TROUBLE.search(unit.section):
            return False
        return not any(code.search(unit.section.lower()) for code in self.codes)

    def codes_of(self, unit: Unit) -> int:
        """How many of the codes that are asked about a piece has."""
        text = PARTED.sub("", f"{unit.text} {unit.headings}".lower())
        return sum(code.search(text) is not None for code in self.codes)

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

    def _tells_value(self, text: str) -> bool:
        """Whether a sentence says what the thing asked for is: `Its voltage at 25 °C is 1.10 V`."""
        defined = DEFINES.match(text.strip("*_ \n"))
        if defined is None or SUPPOSES.match(text.strip()):
            return False
        return self.head <= set(content(defined["subject"]))

    def _faults(self, unit: Unit) -> float:
        """Questions, announcements and lines that only lead on answer nothing; help with trouble
        does only where there is any."""
        aims = bool(AIMS.search(unit.section)) and not AIMS.search(" ".join(self.words))
        return (
            0.6 * asks_back(unit)
            + 0.15 * announces(unit)
            + 0.2 * self._is_beside(unit)
            + 0.4 * aims
            + 0.3 * leads_on(unit)
            + 0.1 * (not self.supposes and SUPPOSES.match(unit.text.strip()) is not None)
        )


def compounds_of(question: str) -> dict[str, frozenset[str]]:
    """Each two words side by side, under the stems that they have when they are written as one."""
    return {
        whole: frozenset(content(f"{first} {second}"))
        for first, second in itertools.pairwise(words(question))
        for whole in wholes_of(first, second)
        if content(f"{first} {second}")
    }


def first_cell(row: str) -> str:
    return next((cell for cell in row.split("|") if cell.strip()), "")
