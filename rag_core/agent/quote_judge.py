"""Says how well each piece of the evidence answers a question."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.agent.asking import Asked
from rag_core.agent.blocks import BlockKind
from rag_core.agent.quotable import Unit
from rag_core.agent.words import content, stems

TOGETHER, NEAR, FIRST_FOUND, FIRST_SAID = 0.3, 0.35, 0.4, 0.05
"""What counts beside the words of the question: those that stand side by side, how near and how
far ahead the passage was found, and how early in it a piece stands."""
HEADED, HEADED_LIST = 0.4, 0.6
"""What words in the headings count that a piece does not have itself."""
HEADED_STEPS = 0.5
"""What steps below headings that hold all of a question for a way are worth more."""
KEYED_ROW = 0.2
"""What a row is worth more that has a cell of which every word is asked for."""
SETTING = 0.5
"""What a word counts that stands only before the sentence that asks."""
LONG_ENOUGH = 5
"""A sentence with fewer words that say something seldom answers by itself."""
ONE_MEANT = 6
"""Words that one step must share with the question, and twice as many as any other, to be meant."""
WHOLE_LIST = 12
TELLING = 0.34
"""The share of the question's weight that a line of a short list must have to be told alone, where
it has but one word of the question."""
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
    held: frozenset[str]
    """Which words of the question it has itself."""


class Judge:
    """Knows what a question asks, and how rare each of its words is in this evidence."""

    def __init__(self, asked: Asked, units: Sequence[Unit]) -> None:
        having = Counter(word for unit in units for word in set(content(unit.text)))
        count = len(units) + 1
        self._asked = asked
        self._weights = {
            word: (1.0 if word in asked.last else SETTING)
            * math.log(1 + count / (having[word] + 0.5))
            for word in asked.words
        }
        self._total = sum(self._weights.values())
        self._top = max(unit.passage.similarity for unit in units) or 1.0

    def weight_in(self, text: str) -> float:
        """The share of the question's weight that a text has."""
        return self._weight_of(self._held(text))

    def _held(self, text: str) -> frozenset[str]:
        """The words of a text, those that it writes as one taken apart as the question has them."""
        said = frozenset(content(text))
        whole = (self._asked.compounds[word] for word in said & self._asked.compounds.keys())
        return said.union(*whole)

    def _weight_of(self, held: frozenset[str]) -> float:
        return sum(w for word, w in self._weights.items() if word in held) / self._total

    def scored(self, unit: Unit) -> Scored:
        spoken = self._spoken(unit)
        own = self.weight_in(spoken)
        both = self.weight_in(f"{spoken} {unit.headings}")
        headed = HEADED_LIST if unit.is_whole and unit.opens_section else HEADED
        score = (
            own
            + headed * (both - own)
            + TOGETHER * self._together(spoken)
            + NEAR * unit.passage.similarity / self._top
            + FIRST_FOUND / unit.passage.rank
            + FIRST_SAID / (1 + unit.place)
            + self._asked.suits(unit)
            + self._shows_how(unit)
            + KEYED_ROW * self._keyed(unit)
        )
        is_long = unit.kind is BlockKind.CODE or len(set(content(spoken))) >= LONG_ENOUGH
        long_enough = 1.0 if is_long else 0.8
        held = self._held(spoken) & self._weights.keys()
        return Scored(unit=unit, score=long_enough * score, coverage=both, own=own, held=held)

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
        return f"{head} {max(unit.parts, key=self.weight_in)}"

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

    def telling(self, lines: Sequence[str]) -> list[str]:
        """The lines that the question names, or has words of that not all of them have; else all.
        Who asks for a list gets it whole."""
        weights = [self.weight_in(line) + self._named(line) for line in lines]
        least, most = min(weights), max(weights)
        is_short = len(lines) <= WHOLE_LIST
        tells = most >= TELLING or max(map(self._count_in, lines)) > 1
        if most == least or (is_short and (not tells or self._asks_for_all(lines))):
            return list(lines)
        half = (least + most) / 2
        return [line for line, weight in zip(lines, weights, strict=True) if weight > half]

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
