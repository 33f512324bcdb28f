"""A section's Markdown as blocks, and as the units that may answer: sentence, item, row, line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import accumulate

from markdown_it.token import Token

from rag_core.agent.language.sentences import sentences_of
from rag_core.text.reading import READER

LIST_MARK = re.compile(r"\A(?:[ \t]*>)*[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
QUOTE_MARK = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
WORD = re.compile(r"\w+")
ENDS_OPEN = (":", "：")
"""How a paragraph ends that only leads to what stands below it."""
MARKS_BEHIND = "*_` \t\n"
LABEL = re.compile(r"\s*(\*\*|__)[^*_\n]+\1:?\s*")
"""A line in bold alone, such as the label of a note, which goes with what it stands over."""
IMAGE = re.compile(r"!\[[^\]]*\]\([^)\n]*\)")
PART_WORDS = 30
"""Of a paragraph that is longer than half as long again, so many words are chosen together."""
PARSED = 256
"""Texts that are remembered; a section is read for its scores and again for the answer."""


class BlockKind(StrEnum):
    """What a block is made of."""

    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    HEADING = "heading"


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest piece of a section that can answer a question: where it stands in the text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a section that is shown whole, with the units that it holds.

    A list, a table or code includes the paragraph that leads to it."""

    kind: BlockKind
    start: int
    end: int
    units: range
    """The places of its units among those of the section."""
    body: int
    """Where the list, table or code itself begins."""
    goes_on: bool = False
    """Whether it is a later part of the paragraph that the block before it belongs to."""


@dataclass(frozen=True)
class SectionUnits:
    """A section as a reader gets it: its text, where it stands, and its units."""

    text: str
    title: str = ""
    heading: str = ""
    breadcrumb: str = ""
    nearness: float = 0.0
    """The cosine of section and question, as the search has it."""
    score: float = 0.0
    """The score that put the sections in order."""

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return parsed(self.text)[0]

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        return parsed(self.text)[1]

    @property
    def headed(self) -> str:
        """The text below its headings."""
        return "\n".join(filter(None, (self.title, self.heading, self.text)))

    def words_of(self, unit: Unit) -> str:
        """A unit's own words, without the marks of the list or quotation that it stands in."""
        return plain_unit(self.text[unit.start : unit.end])


def plain_unit(text: str) -> str:
    bare = LIST_MARK.sub("", text.strip())
    return QUOTE_MARK.sub("", bare).strip()


def word_count(text: str) -> int:
    return len(WORD.findall(text))


@lru_cache(maxsize=PARSED)
def parsed(text: str) -> tuple[tuple[Block, ...], tuple[Unit, ...]]:
    """The blocks of a Markdown text, and the units of all blocks in order."""
    lines = text.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    units: list[Unit] = []
    blocks: list[Block] = []
    tokens = READER.parse(text)
    for token in tokens:
        if token.level or token.map is None or token.type.endswith("_close"):
            continue
        first, after = token.map
        while after > first and not lines[min(after, len(lines)) - 1].strip():
            after -= 1
        start, end = starts[first], starts[min(after, len(lines))]
        kind = KINDS.get(token.type)
        if kind is None or not text[start:end].strip():
            continue
        begin = len(units)
        units += units_in(kind, token, tokens, text, starts, start, end)
        blocks.append(Block(kind, start, end, range(begin, len(units)), start))
    whole = with_lead_ins(blocks, text)
    return tuple(part for block in whole for part in parts_of(block, units, text)), tuple(units)


KINDS = {
    "paragraph_open": BlockKind.PARAGRAPH,
    "html_block": BlockKind.PARAGRAPH,
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "blockquote_open": BlockKind.QUOTE,
    "heading_open": BlockKind.HEADING,
}


def units_in(
    kind: BlockKind,
    token: Token,
    tokens: Sequence[Token],
    text: str,
    starts: Sequence[int],
    start: int,
    end: int,
) -> Iterable[Unit]:
    match kind:
        case BlockKind.HEADING:
            return ()
        case BlockKind.LIST:
            return items_in(token, tokens, text, starts, end)
        case BlockKind.TABLE:
            return lines_in(text, start, end, leaving_out=2)
        case BlockKind.CODE:
            fenced = token.type == "fence"
            closed = fenced and text[start:end].rstrip("\n").count("\n") > token.content.count("\n")
            return lines_in(text, start, end, leaving_out=int(fenced), closed=closed)
        case _:
            return sentences_in(text, start, end)


def sentences_in(text: str, start: int, end: int) -> Iterator[Unit]:
    for sentence in sentences_of(text[start:end]):
        yield from trimmed(text, start, start + len(sentence))
        start += len(sentence)


def items_in(
    token: Token, tokens: Sequence[Token], text: str, starts: Sequence[int], end: int
) -> Iterator[Unit]:
    """The items of a list and of the lists in it, each up to where the next one begins."""
    assert token.map is not None
    first, after = token.map
    begins = [
        starts[each.map[0]]
        for each in tokens
        if each.type == "list_item_open" and each.map and first <= each.map[0] < after
    ]
    for begin, until in zip(begins, [*begins[1:], end], strict=True):
        yield from trimmed(text, begin, until)


def lines_in(
    text: str, start: int, end: int, *, leaving_out: int, closed: bool = False
) -> Iterator[Unit]:
    """The lines that hold something: of a table without its head, of code without its fences."""
    lines = text[start:end].splitlines(keepends=True)
    for number, line in enumerate(lines):
        is_fence = closed and number == len(lines) - 1
        if number >= leaving_out and not is_fence:
            yield from trimmed(text, start, start + len(line))
        start += len(line)


def trimmed(text: str, start: int, end: int) -> Iterator[Unit]:
    """Where the words between these places begin and end; nothing where there are none, or a
    picture alone."""
    piece = text[start:end]
    if WORD.search(IMAGE.sub("", piece)):
        lead = len(piece) - len(piece.lstrip())
        yield Unit(start + lead, start + len(piece.rstrip()))


def with_lead_ins(blocks: Sequence[Block], text: str) -> Iterator[Block]:
    """Lists, tables and code each with the paragraph that leads to them: of prose before a list or
    a table only what ends with a colon does, but code is seldom understood without its own."""
    lead: Block | None = None
    for block in blocks:
        if lead is not None and leads_to(lead, block, text):
            units = range(lead.units.start, block.units.stop)
            yield Block(block.kind, lead.start, block.end, units, block.start)
            lead = None
            continue
        if lead is not None:
            yield lead
        lead = block if block.kind is BlockKind.PARAGRAPH else None
        if lead is None:
            yield block
    if lead is not None:
        yield lead


def parts_of(block: Block, units: Sequence[Unit], text: str) -> Iterator[Block]:
    """A long paragraph as groups of its sentences; every other block as it is."""
    words = word_count(text[block.start : block.end])
    count = round(words / PART_WORDS)
    if block.kind is not BlockKind.PARAGRAPH or count < 2 or len(block.units) < 2:
        yield block
        return
    first, start, length = block.units.start, block.start, 0
    for at in block.units:
        length += word_count(text[units[at].start : units[at].end])
        is_last = at + 1 == block.units.stop
        if is_last or length >= words / count:
            end = block.end if is_last else units[at + 1].start
            body = max(start, block.body)
            goes_on = start > block.start
            yield Block(block.kind, start, end, range(first, at + 1), body, goes_on)
            first, start, length = at + 1, end, 0


def leads_to(lead: Block, block: Block, text: str) -> bool:
    if block.kind is BlockKind.CODE:
        return True
    if LABEL.fullmatch(text[lead.start : lead.end]):
        return block.kind is not BlockKind.HEADING
    ends_open = text[lead.start : lead.end].rstrip(MARKS_BEHIND).endswith(ENDS_OPEN)
    return ends_open and block.kind in {BlockKind.LIST, BlockKind.TABLE, BlockKind.QUOTE}
