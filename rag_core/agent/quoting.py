"""Chooses the pieces of the evidence that answer a question, and puts them in order."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.agent.asking import Asked
from rag_core.agent.blocks import BlockKind
from rag_core.agent.quotable import QuotedPassage, Unit, units_of
from rag_core.agent.words import content, stems

MAX_UNITS = 4
MAX_WHOLE = 2
"""Lists, tables and code blocks in one answer."""
LEAST_COVERAGE = 0.12
"""The share of the question's weight that the best place must have, headings included."""
FURTHER_COVERAGE = 0.34
"""The same for a piece that is to stand beside the best one."""
ALSO_WORTH = 0.8
"""How good a further piece must be, measured by the best one."""
HEADED_STEPS = 0.5
"""What steps below headings that hold all of a question for a way are worth more."""
LONG_ENOUGH = 5
"""A sentence with fewer words that say something seldom answers by itself."""
NEIGHBOUR = 0.6
REPEATED = 0.7
WHOLE_TABLE = 12
LONG_LIST = 6
"""A longer list of bullets is quoted by the items that answer; steps always stay whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A piece with how well it answers, and which share of the question it covers."""

    unit: Unit
    score: float
    coverage: float


def quoted_answer(question: str, passages: Sequence[QuotedPassage]) -> str:
    """One to four pieces with their markers; empty: nothing answers."""
    asked = Asked.read(question)
    units = [unit for passage in passages for unit in units_of(passage)]
    if not asked.words or not units:
        return ""
    judge = Judge(asked, units)
    scored = [judge.scored(unit) for unit in units]
    best = max(scored, key=lambda one: one.score)
    if best.coverage < LEAST_COVERAGE:
        return ""
    return written([one.unit for one in chosen(scored, best, asked)], judge)


class Judge:
    """Knows what a question asks, and how rare each of its words is in this evidence."""

    def __init__(self, asked: Asked, units: Sequence[Unit]) -> None:
        having = Counter(word for unit in units for word in set(content(unit.text)))
        count = len(units) + 1
        self._asked = asked
        self._weights = {word: math.log(1 + count / (having[word] + 0.5)) for word in asked.words}
        self._total = sum(self._weights.values())
        self._top = max(unit.passage.similarity for unit in units) or 1.0

    def weight_in(self, text: str) -> float:
        """The share of the question's weight that a text has."""
        held = set(content(text))
        return sum(w for word, w in self._weights.items() if word in held) / self._total

    def scored(self, unit: Unit) -> Scored:
        spoken = self._spoken(unit)
        own = self.weight_in(spoken)
        both = self.weight_in(f"{spoken} {unit.headings}")
        headed = 0.6 if unit.is_whole and unit.opens_section else 0.4
        score = (
            own
            + headed * (both - own)
            + 0.3 * self._together(spoken)
            + 0.35 * unit.passage.similarity / self._top
            + 0.15 / unit.passage.rank
            + 0.05 / (1 + unit.place)
            + self._asked.suits(unit)
            + self._shows_how(unit)
        )
        is_long = unit.kind is BlockKind.CODE or len(set(content(spoken))) >= LONG_ENOUGH
        long_enough = 1.0 if is_long else 0.8
        return Scored(unit=unit, score=long_enough * score, coverage=both)

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

    def telling(self, parts: Sequence[str]) -> list[str]:
        """The lines that have words of the question which not all of them have; else all.
        Who asks for a list gets it whole."""
        if self._asked.wants_list and len(parts) <= WHOLE_TABLE:
            return list(parts)
        weights = [self.weight_in(part) for part in parts]
        least, most = min(weights), max(weights)
        if most == least:
            return list(parts)
        return [part for part, w in zip(parts, weights, strict=True) if w >= (least + most) / 2]


def first_line(code: str) -> str:
    """The first line of a block of code, its fence left out."""
    lines = code.splitlines()
    return next((line for line in lines if not line.lstrip().startswith(("```", "~~~"))), "")


def chosen(scored: Sequence[Scored], best: Scored, asked: Asked) -> list[Scored]:
    """The best piece, what goes with it in its passage, and what other passages add."""
    picked = [best, *(one for one in scored if asked.goes_on(best.unit, one.unit))]
    for one in sorted(scored, key=lambda s: -s.score):
        if len(picked) == MAX_UNITS:
            break
        if one.unit.is_whole and sum(p.unit.is_whole for p in picked) >= MAX_WHOLE:
            continue
        if one not in picked and adds(one, picked, best):
            picked.append(one)
    order = {p.unit.passage.rank: at for at, p in reversed(list(enumerate(picked)))}
    return sorted(picked, key=lambda p: (order[p.unit.passage.rank], p.unit.place))


def adds(one: Scored, picked: Sequence[Scored], best: Scored) -> bool:
    """Whether a piece is good enough and says something that is not said yet."""
    is_next = one.unit.passage is best.unit.passage and abs(one.unit.place - best.unit.place) == 1
    if one.score < (NEIGHBOUR if is_next else ALSO_WORTH) * best.score:
        return False
    if one.coverage < FURTHER_COVERAGE * (0.5 if is_next else 1.0):
        return False
    own = set(content(one.unit.text))
    return all(len(own & set(content(p.unit.text))) < REPEATED * len(own) for p in picked)


def written(units: Sequence[Unit], judge: Judge) -> str:
    """The pieces as text: sentences of one passage run on, lists and code stand alone."""
    text = ""
    last: Unit | None = None
    for unit in units:
        if last is not None:
            runs_on = last.passage is unit.passage and not (last.is_whole or unit.is_whole)
            text += " " if runs_on else "\n\n"
        text += marked(unit, judge)
        last = unit
    return text


def marked(unit: Unit, judge: Judge) -> str:
    """A piece with its marker: after the sentence, the lead-in of code, or the last line."""
    marker = f"[{unit.passage.rank}]"
    match unit.kind:
        case BlockKind.CODE:
            lead = with_marker(unit.lead, marker) + "\n\n" if unit.lead else ""
            return lead + unit.parts[0]
        case BlockKind.TABLE:
            head, *rows = unit.parts
            *before, last = judge.telling(rows)
            lead = unit.lead + "\n\n" if unit.lead else ""
            return lead + "\n".join((head, *before, in_last_cell(last, marker)))
        case BlockKind.ITEM:
            parts = unit.parts
            if len(parts) > LONG_LIST and not unit.is_steps:
                parts = tuple(judge.telling(parts))
            lines = (unit.lead, *parts) if unit.lead else parts
            return with_marker("\n".join(lines), marker)
        case _:
            return with_marker(unit.text.strip(), marker)


def with_marker(text: str, marker: str) -> str:
    """The marker before the end of the last sentence; of a list that ends in code, of the first
    line."""
    body = text.rstrip()
    if body.endswith("```"):
        first, _, rest = body.partition("\n")
        return f"{with_marker(first, marker)}\n{rest}"
    end = re.search(r"[.!?:…]+[\"'”’)*_]*$", body)
    tail = end.group() if end else ""
    return f"{body[: len(body) - len(tail)]} {marker}{tail}"


def in_last_cell(row: str, marker: str) -> str:
    bare = row.rstrip().removesuffix("|").rstrip()
    return f"{bare} {marker} |"
