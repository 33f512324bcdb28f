"""Says how well each piece of the evidence answers a question."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.agent.language.blocks import BlockKind
from rag_core.agent.language.words import content, stems, wholes_of, words
from rag_core.agent.quoting.asking import Asked
from rag_core.agent.quoting.pieces import LEANING, LEAST_WORDS, Unit, is_asked
from rag_core.agent.quoting.telling import replies

TOGETHER, NEAR, FIRST_FOUND, FIRST_SAID = 0.3, 0.35, 0.3, 0.05
"""What counts beside the words of the question: those that stand side by side, how near and how
far ahead the passage was found, and how early in it a piece stands."""
FIRST_NAMED = 0.4
"""How far ahead a passage was found, where a section is named rather than something asked."""
HEADED, HEADED_LIST = 0.4, 0.6
"""What words in the headings count that a piece does not have itself."""
AROUND = 0.4
"""What words of the question count that only the sentences right before and behind have."""
REPLIED = 0.9
"""The same of a question that stands right before: what follows is its answer."""
LEANED = 0.8
"""The same of the sentence before one that begins with `it` or `they`."""
HEADED_STEPS = 0.5
"""What steps below headings that hold all of a question for a way are worth more."""
KEYED_ROW = 0.2
"""What a row is worth more that has a cell of which every word is asked for."""
COLUMN, LOOKED_UP = 0.2, 0.6
"""What a table is worth more where its head has one part of the question and a row the other, and
which share of the question that must be."""
ONLY_ASKS = 0.3
"""What a word counts that only asks: of `how long` and `difference` an answer has seldom any."""
SETTING = 0.5
"""What a word counts that stands only before the sentence that asks."""
LONG_ENOUGH, MOST_OF_IT = 5, 0.6
"""A sentence with fewer words that say something seldom answers by itself, unless it has so much
of the question."""
ONE_MEANT = 6
"""Words that one step must share with the question, and twice as many as any other, to be meant."""
WHOLE_LIST = 12
TELLING = 0.34
"""The share of the question's weight that a line of a short list must have to be told alone, where
it has but one word of the question."""
LAST_COVERED = 0.5
"""The share of what the best piece has of the last sentence that any other must have."""
PART_COVERED = 0.4
"""The share of a part's weight that must be answered, where a question has several."""
SAME_BEGINNING = 2
"""Letters that a word has in common with what it may be the first part of."""
TERM = re.compile(
    r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\*\*|__)?([^:*_–—]{2,40}?)(?:\*\*|__|:|\s[–—-]\s)"
)
CELL = re.compile(r"(?<!\\)\|")
MOST_KEY_WORDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A piece with how well it answers, and which share of the question it covers."""

    unit: Unit
    score: float
    coverage: float
    own: float
    """The share that its own words cover, headings left out."""
    reached: float
    """The same, seen from what the whole evidence has of the question."""
    held: frozenset[str]
    """Which words of the question it has itself."""
    told: frozenset[str]
    """Which it has together with its headings."""
    has_form: bool
    """Whether it has a number, a name or the like where one is asked for."""


class Judge:
    """Knows what a question asks, and how rare each of its words is in this evidence."""

    def __init__(self, asked: Asked, units: Sequence[Unit]) -> None:
        self._asked = asked
        having = Counter(word for unit in units for word in set(content(unit.text)))
        count = len(units) + 1
        about = frozenset(asked.about)
        self._weights = {
            word: (1.0 if word in asked.last else SETTING)
            * (1.0 if word in about else ONLY_ASKS)
            * math.log(1 + count / (having[word] + 0.5))
            for word in asked.words
        }
        self._beginnings = tuple({word[:SAME_BEGINNING] for word in asked.words})
        self._total = sum(self._weights.values())
        self._found = sum(w for word, w in self._weights.items() if having[word]) / self._total
        self._top = max(unit.passage.similarity for unit in units) or 1.0
        self._at = {(unit.passage.rank, unit.place): unit for unit in units}

    def weight_in(self, text: str) -> float:
        """The share of the question's weight that a text has."""
        return self._weight_of(self._held(text))

    def _held(self, text: str) -> frozenset[str]:
        """The words of a text, taken apart or joined as the question has them: `ROS 2`, `ROS2`."""
        said = content(text)
        compounds = self._asked.compounds
        apart = (compounds[word] for word in said if word in compounds)
        joined = {word.replace("-", "") for word in said}
        for first, second in itertools.pairwise(words(text)):
            if first.startswith(self._beginnings):
                joined |= wholes_of(first, second)
        return frozenset(joined & self._weights.keys()).union(said, *apart)

    def _weight_of(self, held: frozenset[str]) -> float:
        return sum(w for word, w in self._weights.items() if word in held) / self._total

    def scored(self, unit: Unit) -> Scored:
        spoken = self._spoken(unit)
        own = self.weight_in(spoken)
        both = self.weight_in(f"{spoken} {unit.headings} {self._question_before(unit)}")
        headed = HEADED_LIST if unit.is_whole and unit.opens_section else HEADED
        score = (
            own
            + headed * (both - own)
            + self._around(unit, spoken)
            + TOGETHER * self._together(spoken)
            + NEAR * unit.passage.similarity / self._top
            + (FIRST_FOUND if self._asked.is_question else FIRST_NAMED) / unit.passage.rank
            + FIRST_SAID / (1 + unit.place)
            + self._asked.suits(unit)
            + self._shows_how(unit)
            + KEYED_ROW * self._keyed(unit)
            + COLUMN * self._looks_up(unit)
        )
        return Scored(
            unit=unit,
            score=self._length(unit, spoken, own) * score,
            coverage=both,
            own=own,
            reached=(both if unit.is_steps else own) / self._found if self._found else 0.0,
            held=self._asked_in(spoken),
            told=self._asked_in(f"{spoken} {unit.headings}"),
            has_form=self._asked.has_form(unit.text),
        )

    def _length(self, unit: Unit, spoken: str, own: float) -> float:
        """What is left of a piece's worth where it says too little by itself."""
        said = len(set(content(spoken)))
        if unit.kind is BlockKind.CODE or self._question_before(unit):
            return 1.0
        if said < LEAST_WORDS and not unit.is_whole:
            return 0.0
        return 1.0 if said >= LONG_ENOUGH or own >= MOST_OF_IT else 0.8

    def on_the_last(self, scored: Sequence[Scored]) -> list[Scored]:
        """Those that have enough of what the last sentence brings, where any of them has it: what
        was asked before only tells what about."""
        new = {word: w for word, w in self._weights.items() if word in self._asked.last}
        if len(new) == len(self._weights):
            return list(scored)
        shares = [sum(w for word, w in new.items() if word in one.told) for one in scored]
        least = LAST_COVERED * max(shares, default=0.0)
        return [one for one, share in zip(scored, shares, strict=True) if share >= least]

    def covers_last(self, units: Sequence[Unit]) -> bool:
        """Whether pieces have enough of what the last sentence asks, their headings included."""
        asked = {word: w for word, w in self._weights.items() if word in self._asked.last}
        held = frozenset[str]().union(*(self._held(f"{u.text} {u.headings}") for u in units))
        share = sum(w for word, w in asked.items() if word in held)
        return bool(units) and share >= PART_COVERED * sum(asked.values())

    def _around(self, unit: Unit, spoken: str) -> float:
        """What words count that only the neighbours have: of a sentence that says `it` or `they`,
        those of the sentence before are nearly its own."""
        own, held = self.weight_in(spoken), self._held(spoken)
        before, behind = self._beside(unit, -1), self._beside(unit, 1)
        near = self._weight_of(held | before | behind) - own
        leans = LEANED if LEANING.match(unit.text.strip()) else 0.0
        if question := self._question_before(unit):
            leans, before = REPLIED, self._held(question)
        return max(AROUND * near, leans * (self._weight_of(held | before) - own))

    def _question_before(self, unit: Unit) -> str:
        """The question that a sentence replies to, where it is much like the one that is asked:
        the one before it, or the heading that it stands below."""
        before = self._at.get((unit.passage.rank, unit.place - 1))
        if unit.opens_section and not unit.is_whole and is_asked(unit.section):
            question = unit.section
        elif before is not None and replies(unit, before):
            question = before.text
        else:
            return ""
        return question if self.weight_in(question) >= MOST_OF_IT else ""

    def _beside(self, unit: Unit, step: int) -> frozenset[str]:
        other = self._at.get((unit.passage.rank, unit.place + step))
        return frozenset() if other is None else self._held(other.text)

    def _keyed(self, unit: Unit) -> float:
        """How much of the question names a row of a table, or an item, outright."""
        if unit.kind not in {BlockKind.TABLE, BlockKind.ITEM}:
            return 0.0
        return max(map(self._named, unit.lines))

    def _named(self, line: str) -> float:
        """The weight of the heaviest cell or term of a line that the question has whole."""
        named = (key for key in keys_of(line) if key <= self._weights.keys())
        return max(map(self._weight_of, named), default=0.0)

    def _shows_how(self, unit: Unit) -> float:
        """Steps and code seldom repeat the words of the question: their headings do."""
        if not (self._asked.wants_steps and unit.is_steps):
            return 0.0
        return HEADED_STEPS * self.weight_in(unit.headings)

    def _spoken(self, unit: Unit) -> str:
        """What of a piece is compared with the question: of a list or a table the lead-in and
        the best line, so that a long one does not win by its length."""
        if unit.kind is BlockKind.CODE:
            return unit.lead or first_line(unit.parts[0])
        if not unit.is_whole or len(unit.parts) == 1:
            return unit.text
        head = f"{unit.lead} {unit.parts[0] if unit.kind is BlockKind.TABLE else ''}"
        return f"{head} {max(unit.lines, key=self.weight_in)}"

    def _together(self, text: str) -> float:
        """How many pairs of neighbouring words the question and the text share."""
        pairs = self._asked.pairs
        return len(pairs & set(itertools.pairwise(stems(text)))) / max(1, len(pairs))

    def keeps_whole(self, unit: Unit) -> bool:
        """Steps are told from the first to the last, unless one is asked for."""
        if not unit.is_steps or self._asked.wants_command:
            return False
        most, *others = sorted(map(self._count_in, unit.lines), reverse=True)
        return most < ONE_MEANT or (bool(others) and most < 2 * others[0])

    def telling(self, unit: Unit) -> list[str]:
        """The lines that the question names, or has words of that not all of them have; else all.
        Who asks for a list gets it whole."""
        lines = unit.lines
        weights = [self.weight_in(line) + self._named(line) for line in lines]
        least, most = min(weights), max(weights)
        is_short = len(lines) <= WHOLE_LIST
        tells = most >= TELLING or max(map(self._count_in, lines)) > 1 or self._looks_up(unit)
        if most == least or (is_short and (not tells or self._asks_for_all(lines))):
            return list(lines)
        half = (least + most) / 2
        heavy = [line for line, weight in zip(lines, weights, strict=True) if weight > half]
        return [line for line in heavy if not any(self._says_more(o, line) for o in heavy)]

    def _looks_up(self, unit: Unit) -> bool:
        """Whether a table's head and one of its rows together have what is asked for."""
        if unit.kind is not BlockKind.TABLE:
            return False
        head = self._asked_in(unit.parts[0])
        best = max(map(self._asked_in, unit.lines), key=self._weight_of)
        above = head | self._asked_in(unit.headings)
        is_split = bool(head - best and best - head)
        return is_split and self._weight_of(above | best) >= LOOKED_UP * self._found

    def _says_more(self, one: str, other: str) -> bool:
        """Whether a line has all words of the question that the other one has, and more."""
        return self._asked_in(other) < self._asked_in(one)

    def _asked_in(self, line: str) -> frozenset[str]:
        return self._held(line) & self._weights.keys()

    def _count_in(self, line: str) -> int:
        """How many words of the question a line has."""
        return len(self._weights.keys() & set(content(line)))

    def _asks_for_all(self, lines: Sequence[str]) -> bool:
        return self._asked.wants_list and not any(map(self._named, lines))


def first_line(code: str) -> str:
    """The first line of a block of code, its fence left out."""
    lines = code.splitlines()
    return next((line for line in lines if not line.lstrip().startswith(("```", "~~~"))), "")


def keys_of(line: str) -> Iterator[frozenset[str]]:
    """What names a row or an item: each short cell, or the term that an item begins with."""
    is_row = line.lstrip().startswith("|")
    names = CELL.split(line) if is_row else TERM.findall(line)
    for name in names:
        key = frozenset(content(name))
        if 1 <= len(key) <= MOST_KEY_WORDS and not all(word.isdigit() for word in key):
            yield key
