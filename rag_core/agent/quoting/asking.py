"""What a question asks for: a number, a person, a definition, or how something is done."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from rag_core.agent.language.blocks import BlockKind
from rag_core.agent.language.sentences import sentences_of
from rag_core.agent.language.wordings import (
    AIMS,
    AMOUNT,
    ANNOUNCES,
    ASKS,
    CAPITAL,
    CODE_WORD,
    COMMAND,
    COMPARES,
    COUNTED_WITHIN,
    DEFINES,
    DIGIT,
    HOW_MANY,
    HOW_TO,
    LIST,
    MAX_MEANT,
    MEANING,
    NEXT_WORDS,
    PARTED,
    PERSON,
    REASON,
    TIME,
    TROUBLE,
    WH,
    WHEN,
    WHY,
)
from rag_core.agent.language.words import content, says_something, stem_of, stems, words
from rag_core.agent.quoting.pieces import Unit
from rag_core.retrieval.codes import codes_in, pattern_of


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
    is_question: bool
    """Whether something is asked; a few words, or what is to be done, rather name a section."""
    wants_amount: bool
    wants_time: bool
    counted: str
    """The stem of what is to be counted, as in `how many open pages are there`; else empty."""
    wants_person: bool
    wants_steps: bool
    wants_list: bool
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
            is_question="?" in asks or WH.match(asks) is not None,
            wants_amount=bool(AMOUNT.search(asks)),
            counted=counted_in(asks),
            wants_time=bool(WHEN.search(asks)),
            wants_person=bool(PERSON.search(asks)),
            wants_steps=bool(HOW_TO.search(asks)),
            wants_list=bool(LIST.search(asks)),
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
        return self._form(unit) - self._faults(unit)

    def _form(self, unit: Unit) -> float:
        if self.meant and self._defines(unit.text):
            return 0.3
        if self.meant and unit.opens_section and self.meant == subject_of(unit.section):
            return 0.15
        if self.wants_command:
            return 0.25 if unit.has_command else 0.0
        if self.wants_steps:
            tells = unit.is_steps or self._begins_with_it(unit.text)
            return 0.12 if tells else 0.08 * unit.has_command
        if self.counted and self._counts(unit.text):
            return 0.35
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

    def _begins_with_it(self, text: str) -> bool:
        """Whether a sentence begins with what is to be done: `Report it to …`."""
        return (
            bool(set(content(text)[:1]) & set(self.words)) and stems(text)[:1] == content(text)[:1]
        )

    def _counts(self, text: str) -> bool:
        """Whether a number stands right before what is to be counted."""
        for found in DIGIT.finditer(text):
            following = words(text[found.end() : found.end() + NEXT_WORDS])[:COUNTED_WITHIN]
            if self.counted in map(stem_of, itertools.takewhile(says_something, following)):
                return self._is_new(found)
        return False

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
        """Whether a section helps with trouble, and there is none."""
        return not self.has_trouble and bool(TROUBLE.search(unit.section))

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
        aims = bool(AIMS.search(unit.section)) and not AIMS.search(" ".join(self.words))
        return (
            0.3 * asks_back(unit)
            + 0.15 * announces(unit)
            + 0.2 * self._is_beside(unit)
            + 0.4 * aims
            + 0.3 * leads_on(unit)
        )


def counted_in(asks: str) -> str:
    """The last word of the run after `how many` that says something: it is what is counted."""
    run = HOW_MANY.search(asks)
    named = content(run[1]) if run else ()
    return named[-1] if named else ""


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
