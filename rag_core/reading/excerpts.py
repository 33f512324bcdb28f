"""What is shown of the sections: whole blocks that answer, and the words among them that do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import NamedTuple

from rag_core.reading.sections import ReadSection
from rag_core.reading.units import Block, BlockKind, SectionUnits, Unit, plain_unit, word_count

MOST_SECTIONS = 3
MOST_WORDS = 320
"""A block is shown whole up to here."""
MOST_ITEMS = 12
FEWEST_LEFT_OUT = 4
"""Of a list or table that is longer by so many, the items that answer best are shown, with the
number of the others."""
RELEVANCE_WEIGHT = 2.0
"""What a section's relevance counts beside the scores of its units."""
FAR = 0.3
"""What is so much worse than the best block is not shown of another section, even where there is
room."""
NEXT_TO_SHOWN = 0.05
"""What it counts for a block that it stands beside one that is shown."""
SAME_QUOTE = 0.9
"""The share of the best unit's score with which a neighbour is quoted with it."""
LONGEST_QUOTE = 60
LEFT_OUT = "…"
FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
FENCE_SIGNS = re.compile(r"`+|~+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Blocks of one section as they stand, and the words among them that answer."""

    section: ReadSection
    text: str
    quote: str


class Place(NamedTuple):
    """A block among those of several sections."""

    section: int
    block: int


def best_blocks(
    sections: Sequence[ReadSection], *, room: int, more: str, longest: int = MOST_WORDS
) -> list[Excerpt]:
    """The blocks that answer best among the first sections, in so many words; the best block is
    shown whole up to `longest`. `more` names the number of items that are left out of a list."""
    sections = sections[:MOST_SECTIONS]
    worth = {
        Place(number, place): value
        for number, section in enumerate(sections)
        for place, value in enumerate(worth_of(section, sections[0]))
        if value is not None
    }
    if not worth:
        return [Excerpt(section=each, text=each.section.text, quote="") for each in sections[:1]]
    words = {place: shown_words(sections, place, longest) for place in worth}
    shown = chosen(worth, words, room)
    best_first = sorted(
        {place.section for place in shown},
        key=lambda number: -max(worth[place] for place in shown if place.section == number),
    )
    return [
        excerpt_of(sections[n], {p.block for p in shown if p.section == n}, more, longest)
        for n in best_first
    ]


def worth_of(section: ReadSection, first: ReadSection) -> Iterator[float | None]:
    """How well each block answers by its best unit; None: it has none."""
    behind = RELEVANCE_WEIGHT * (section.reading.relevance - first.reading.relevance)
    for block in section.section.blocks:
        yield max((section.reading.units[at] + behind for at in block.units), default=None)


def shown_words(sections: Sequence[ReadSection], place: Place, longest: int = MOST_WORDS) -> int:
    section = sections[place.section]
    block = section.section.blocks[place.block]
    return word_count(block_text(section.section, block, section.reading.units, "", longest))


def chosen(worth: dict[Place, float], words: dict[Place, int], room: int) -> set[Place]:
    """The best block, then what is best of the others as long as there is room."""
    best = max(worth, key=worth.__getitem__)
    shown, used = {best}, words[best]

    def value(place: Place) -> float:
        beside = {place._replace(block=place.block + step) for step in (-1, 1)}
        return worth[place] + NEXT_TO_SHOWN * bool(beside & shown)

    near = [p for p in worth if p.section == best.section or worth[p] >= worth[best] - FAR]
    while fitting := [p for p in near if p not in shown and used + words[p] <= room]:
        place = max(fitting, key=value)
        shown.add(place)
        used += words[place]
    return shown


def excerpt_of(
    section: ReadSection, blocks: set[int], more: str, longest: int = MOST_WORDS
) -> Excerpt:
    """These blocks in order, each with the sub-heading right above it."""
    units, scores = section.section, section.reading.units
    headings = {
        place - 1 for place in blocks if place and units.blocks[place - 1].kind is BlockKind.HEADING
    }
    text, before = "", -1
    for place in sorted(blocks | headings):
        text += joint(units, before, place)
        text += block_text(units, units.blocks[place], scores, more, longest)
        before = place
    quote = best_words(units, scores, [units.blocks[place] for place in sorted(blocks)])
    return Excerpt(section=section, text=text, quote=quote)


def joint(units: SectionUnits, before: int, place: int) -> str:
    """What stands between a block that is shown and the one before it (-1: there is none)."""
    goes_on = units.blocks[place].goes_on
    if before < 0:
        return f"{LEFT_OUT} " if goes_on else ""
    if place == before + 1:
        return " " if goes_on else "\n\n"
    is_one = all(block.goes_on for block in units.blocks[before + 1 : place + 1])
    return f" {LEFT_OUT} " if is_one else f"\n\n{LEFT_OUT}\n\n"


def best_lines(section: ReadSection, *, room: int, more: str) -> Excerpt:
    """The best block of a section, or those of its lines that come nearest where it is longer."""
    units, scores = section.section, section.reading.units
    places = [place for place, block in enumerate(units.blocks) if block.units]
    if not places:
        return Excerpt(section=section, text=units.text, quote="")
    place = max(places, key=lambda each: max(scores[at] for at in units.blocks[each].units))
    block = units.blocks[place]
    if word_count(units.text[block.start : block.end]) <= room:
        words = {Place(0, n): shown_words([section], Place(0, n)) for n in places}
        worth = {Place(0, n): value for n, value in enumerate(worth_of(section, section)) if value}
        shown = chosen(worth, words, room) if worth else {Place(0, place)}
        return excerpt_of(section, {each.block for each in shown}, more)
    text = cut_block(units, block, *window(units, block, scores, room))
    return Excerpt(section=section, text=text, quote=best_words(units, scores, [block]))


def block_text(
    units: SectionUnits, block: Block, scores: Sequence[float], more: str, longest: int
) -> str:
    """A block as it stands; of a long list or table the best items, of other blocks that are far
    too long the best part."""
    text = units.text[block.start : block.end].rstrip()
    items = [at for at in block.units if units.units[at].start >= block.body]
    if (
        block.kind in {BlockKind.LIST, BlockKind.TABLE}
        and len(items) >= MOST_ITEMS + FEWEST_LEFT_OUT
    ):
        head = units.text[block.start : line_start(units.text, units.units[items[0]])]
        left = more.format(number=len(items) - MOST_ITEMS)
        text = f"{head}{best_items(units, block, items, scores)}\n\n{left}".rstrip()
    if word_count(text) <= longest or not block.units:
        return text
    return cut_block(units, block, *window(units, block, scores, longest))


def best_items(
    units: SectionUnits, block: Block, items: Sequence[int], scores: Sequence[float]
) -> str:
    """The best rows of a table; of a list those that stand together, so that they keep their
    numbers and what they belong to."""
    if block.kind is BlockKind.TABLE:
        kept = sorted(sorted(items, key=lambda at: -scores[at])[:MOST_ITEMS])
        return "\n".join(line_of(units.text, units.units[at]) for at in kept)
    starts = range(len(items) - MOST_ITEMS + 1)
    start = max(starts, key=lambda at: sum(scores[each] for each in items[at : at + MOST_ITEMS]))
    first, last = items[start], items[start + MOST_ITEMS - 1]
    lines = units.text[line_start(units.text, units.units[first]) : units.units[last].end]
    return dedent(lines).lstrip()


def window(
    units: SectionUnits, block: Block, scores: Sequence[float], room: int
) -> tuple[int, int]:
    """The best unit of a block and what stands round it, below it first, in so many words."""
    first = last = max(block.units, key=scores.__getitem__)
    while True:
        for low, high in ((first, last + 1), (first - 1, last)):
            is_inside = low in block.units and high in block.units
            if is_inside and words_between(units, low, high) <= room:
                first, last = low, high
                break
        else:
            return first, last


def cut_block(units: SectionUnits, block: Block, first: int, last: int) -> str:
    """Units of a block from the first to the last, still a block of its kind."""
    text = units.text
    start, end = units.units[first].start, units.units[last].end
    before = LEFT_OUT if first > block.units.start else ""
    after = LEFT_OUT if last + 1 < block.units.stop else ""
    if block.kind in {BlockKind.PARAGRAPH, BlockKind.QUOTE} or start < block.body:
        return " ".join(filter(None, (before, plain_unit(text[start:end]), after)))
    lines = text[line_start(text, units.units[first]) : end]
    if block.kind is BlockKind.LIST:
        return "\n\n".join(filter(None, (before, dedent(lines).lstrip(), after)))
    head = text[block.body : block.end].splitlines()
    if block.kind is BlockKind.TABLE:
        return "\n".join((*head[:2], lines, *(("", LEFT_OUT) if before or after else ())))
    fence = head[0].strip() if FENCE.match(head[0]) else "```"
    signs = FENCE_SIGNS.match(fence)
    shown = "\n".join(filter(None, (before, dedent(lines), after)))
    return f"{fence}\n{shown}\n{signs[0] if signs else '```'}"


def best_words(units: SectionUnits, scores: Sequence[float], blocks: Sequence[Block]) -> str:
    """The unit that answers best, with its neighbours of the same block that answer as well."""
    block = max(
        (block for block in blocks if block.units),
        key=lambda each: max(scores[at] for at in each.units),
        default=None,
    )
    if block is None:
        return ""
    first = last = best = max(block.units, key=scores.__getitem__)
    enough = SAME_QUOTE * scores[best]
    while (
        last + 1 in block.units
        and scores[last + 1] >= enough
        and words_between(units, first, last + 1) <= LONGEST_QUOTE
    ):
        last += 1
    while (
        first - 1 in block.units
        and scores[first - 1] >= enough
        and words_between(units, first - 1, last) <= LONGEST_QUOTE
    ):
        first -= 1
    return units.text[units.units[first].start : units.units[last].end]


def words_between(units: SectionUnits, first: int, last: int) -> int:
    return word_count(units.text[units.units[first].start : units.units[last].end])


def line_of(text: str, unit: Unit) -> str:
    return text[line_start(text, unit) : unit.end]


def line_start(text: str, unit: Unit) -> int:
    """Where the line begins that a unit begins in."""
    return text.rfind("\n", 0, unit.start) + 1
