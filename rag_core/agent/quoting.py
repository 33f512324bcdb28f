"""Chooses the sentences of the evidence that answer a question, and puts them in order."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rag_core.agent.blocks import Block, BlockKind, blocks_of
from rag_core.agent.sentences import sentences_of
from rag_core.agent.words import content, stems

MAX_UNITS = 4
MAX_CODE = 40
"""Lines of a code block, beyond which it is no answer but a listing."""
LEAST_COVERAGE = 0.34
"""The share of the question's weight that the best place must have, headings included."""
ALSO_WORTH = 0.6
"""How good a further sentence must be, measured by the best one."""
NEIGHBOUR = 0.45
MARKUP = re.compile(
    r"^\s*(?:import\s|export\s|</?[A-Za-z!]|\{\{|\{\*|:::|---|\*\*\*|===|!\[|\[!|\|[\s:|-]+\|?$)"
)
HOW_MANY = re.compile(
    r"\b(?:how (?:many|much|long|often|old|far|big|large|tall|high)|when"
    r"|what (?:year|date|number|percentage|time|age|size)|which year)\b",
    re.I,
)
WHO = re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)
HOW_TO = re.compile(
    r"\bhow (?:do|can|to|should|would|does one)\b|\bsteps?\b|\binstall|\bexample", re.IGNORECASE
)
DIGIT = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred)\b", re.I
)
CAPITAL = re.compile(r"(?<=[\w,;(] )[A-Z]\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedPassage:
    """A passage of the evidence, as the tool handed it over."""

    rank: int
    text: str
    title: str
    heading: str
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What is quoted as a whole: a sentence, a code block with its lead-in, or a list."""

    passage: QuotedPassage
    place: int
    kind: BlockKind
    text: str
    section: str
    score: float = 0.0
    coverage: float = 0.0

    @property
    def is_whole(self) -> bool:
        """Whether this stands on lines of its own."""
        return self.kind in {BlockKind.CODE, BlockKind.ITEM, BlockKind.TABLE}


def quoted_answer(question: str, passages: Sequence[QuotedPassage]) -> str:
    """One to four sentences (or a list, or code) with their markers; empty: nothing answers."""
    asked = tuple(dict.fromkeys(content(question)))
    units = [unit for passage in passages for unit in units_of(passage)]
    if not asked or not units:
        return ""
    scored = scored_units(question, asked, units)
    best = max(scored, key=lambda unit: unit.score)
    if best.coverage < LEAST_COVERAGE:
        return ""
    return written(chosen(scored, best))


def units_of(passage: QuotedPassage) -> list[Unit]:
    """The passage in pieces that can be quoted, in order."""
    units: list[Unit] = []
    section = passage.heading
    for block in merged(blocks_of(passage.text)):
        if block.kind is BlockKind.HEADING:
            section = block.text.strip("# \n")
        for kind, text in pieces_of(block):
            units.append(
                Unit(passage=passage, place=len(units), kind=kind, text=text, section=section)
            )
    return units


def merged(blocks: Iterable[Block]) -> list[Block]:
    """Lists and code together with the line that leads to them, so that both stay whole."""
    whole: list[Block] = []
    for block in blocks:
        if block.kind is BlockKind.BLANK:
            continue
        last = whole[-1] if whole else None
        if last is not None and belongs(last, block):
            gap = "\n\n" if block.kind is BlockKind.CODE else ""
            text = last.text.rstrip("\n") + (gap or "\n") + block.text
            whole[-1] = Block(block.kind, text)
            continue
        whole.append(block)
    return whole


def belongs(last: Block, block: Block) -> bool:
    if block.kind is BlockKind.ITEM:
        return last.kind is BlockKind.ITEM or leads(last)
    return block.kind in {BlockKind.CODE, BlockKind.TABLE} and leads(last)


def leads(block: Block) -> bool:
    """Whether a paragraph ends with a colon: what follows belongs to it."""
    return block.kind is BlockKind.PARAGRAPH and block.text.rstrip().endswith(":")


def pieces_of(block: Block) -> list[tuple[BlockKind, str]]:
    if block.kind is BlockKind.HEADING:
        return []
    if block.kind is BlockKind.CODE:
        return [(block.kind, block.text.strip("\n"))] if block.text.count("\n") <= MAX_CODE else []
    if block.kind in {BlockKind.ITEM, BlockKind.TABLE}:
        return [(block.kind, block.text.strip("\n"))]
    lines = [line for line in block.text.splitlines() if line.strip() and not MARKUP.match(line)]
    paragraph = " ".join(line.strip() for line in lines)
    return [
        (block.kind, sentence.strip())
        for sentence in sentences_of(paragraph)
        if len(content(sentence)) >= 2
    ]


def scored_units(question: str, asked: Sequence[str], units: Sequence[Unit]) -> list[Unit]:
    """Every unit with how well it answers: rare words of the question count most."""
    weights = rarity(asked, units)
    total = sum(weights.values())
    pairs = set(pairs_of(stems(question)))
    top = max(unit.passage.similarity for unit in units)
    return [
        replace(
            unit,
            score=score(unit, question, weights, total, pairs, top),
            coverage=covered(unit, weights) / total,
        )
        for unit in units
    ]


def rarity(asked: Sequence[str], units: Sequence[Unit]) -> dict[str, float]:
    """How much each word of the question tells, by how few of the units have it."""
    having = Counter(word for unit in units for word in set(content(unit.text)))
    return {word: math.log(1 + (len(units) + 1) / (having[word] + 0.5)) for word in asked}


def covered(unit: Unit, weights: dict[str, float]) -> float:
    """The weight of the question's words in the unit or in the headings above it."""
    held = set(content(f"{unit.text} {unit.section} {unit.passage.title}"))
    return sum(weight for word, weight in weights.items() if word in held)


def score(
    unit: Unit,
    question: str,
    weights: dict[str, float],
    total: float,
    pairs: set[tuple[str, str]],
    top: float,
) -> float:
    own = set(content(unit.text))
    above = set(content(f"{unit.section} {unit.passage.title}")) - own
    words = sum(weight for word, weight in weights.items() if word in own)
    headed = sum(weight for word, weight in weights.items() if word in above)
    together = len(pairs & set(pairs_of(stems(unit.text)))) / max(1, len(pairs))
    length = len(own)
    short = 1.0 if length >= 5 else 0.8
    near = unit.passage.similarity / top if top else 1.0
    return short * (
        words / total
        + 0.4 * headed / total
        + 0.3 * together
        + 0.35 * near
        + 0.15 / unit.passage.rank
        + 0.05 / (1 + unit.place)
        + kind_bonus(unit, question)
    )


def kind_bonus(unit: Unit, question: str) -> float:
    """What the question asks for: a number, a name, or steps."""
    if HOW_TO.search(question):
        return 0.12 if unit.is_whole else 0.0
    if HOW_MANY.search(question):
        return 0.15 if DIGIT.search(unit.text) else 0.0
    if WHO.search(question):
        return 0.1 if CAPITAL.search(unit.text) else 0.0
    return -0.05 if unit.kind is BlockKind.CODE else 0.0


def pairs_of(words: Sequence[str]) -> list[tuple[str, str]]:
    return list(itertools.pairwise(words))


def chosen(units: Sequence[Unit], best: Unit) -> list[Unit]:
    """The best unit, what goes with it in its passage, and what other passages add."""
    picked = [best]
    for unit in sorted(units, key=lambda u: -u.score):
        if len(picked) == MAX_UNITS or (unit.is_whole and sum(u.is_whole for u in picked) >= 2):
            break
        if unit not in picked and adds(unit, picked, best):
            picked.append(unit)
    order = {
        rank: place for place, rank in enumerate(dict.fromkeys(u.passage.rank for u in picked))
    }
    return sorted(picked, key=lambda u: (order[u.passage.rank], u.place))


def adds(unit: Unit, picked: Sequence[Unit], best: Unit) -> bool:
    """Whether a unit is good enough and says something that is not said yet."""
    is_next = unit.passage is best.passage and abs(unit.place - best.place) == 1
    least = (NEIGHBOUR if is_next else ALSO_WORTH) * best.score
    if unit.score < least or unit.coverage < LEAST_COVERAGE * (0.5 if is_next else 1.0):
        return False
    own = set(content(unit.text))
    return all(len(own & set(content(other.text))) < 0.7 * len(own) for other in picked)


def written(units: Sequence[Unit]) -> str:
    """The units as text: sentences of one passage run on, lists and code stand alone."""
    text = ""
    last: Unit | None = None
    for unit in units:
        if last is not None:
            runs_on = last.passage is unit.passage and not (last.is_whole or unit.is_whole)
            text += " " if runs_on else "\n\n"
        text += marked(unit)
        last = unit
    return text


def marked(unit: Unit) -> str:
    """A unit with its marker: after the sentence, the lead-in or the last item."""
    marker = f"[{unit.passage.rank}]"
    if unit.kind is BlockKind.CODE:
        lead, fence, code = unit.text.partition("\n\n")
        if fence and not lead.lstrip().startswith(("```", "~~~")):
            return f"{with_marker(lead, marker)}\n\n{code}"
        return unit.text
    if unit.kind is BlockKind.TABLE:
        return unit.text
    return with_marker(unit.text, marker)


def with_marker(text: str, marker: str) -> str:
    body = text.rstrip()
    end = re.search(r"[.!?:…]+[\"'”’)*_]*$", body)
    tail = end.group() if end else ""
    return f"{body[: len(body) - len(tail)]} {marker}{tail}"
