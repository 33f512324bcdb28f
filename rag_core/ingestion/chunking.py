"""Cuts a page into passages: by headings, about one size, whole blocks where that can be."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from rag_core.ingestion.blocks import Block, Kind, blocks_of
from rag_core.ingestion.documents import MIN_CHUNK_TEXT
from rag_core.ingestion.headings import Heading, Site, headings_of, plain
from rag_core.ingestion.splitting import split_block
from rag_core.ingestion.titles import BOLD, titled

TARGET_TOKENS = 400
LARGEST_BLOCK = 600
"""A code block, table or list item up to this size stays whole, above the target too."""
SMALL_OPENING = 15
"""A title and a line say too little alone: what is below this joins its first subsection."""
SLACK = 1.25
"""How far above the target a passage of several blocks may be before it is halved."""
HEADINGS = frozenset({Kind.HEADING, Kind.TITLE})
USUAL_TOKENS = {Kind.TEXT: 45, Kind.ITEM: 25, Kind.TABLE: 150, Kind.CODE: 70}
"""Of the pages of courses and manuals, in the mean."""
TOKENS_PER_WORD = 1.3
BYTES_PER_TOKEN = 6
"""Holds text without spaces to the same size: long addresses, Chinese, Thai."""


class Passage(NamedTuple):
    """A part of a page, and the headings that it stands under."""

    text: str
    path: tuple[Heading, ...]
    words: int


class Weighed(NamedTuple):
    """A block, how many words and about how many tokens it has: both are counted once."""

    block: Block
    tokens: int
    words: int


@dataclass(slots=True)
class Section:
    """The blocks under one heading, up to the next heading of any level."""

    path: tuple[Heading, ...]
    blocks: list[Weighed] = field(default_factory=list)
    is_bare: bool = False
    """Whether it is a heading with nothing below it."""


@dataclass(slots=True)
class Draft:
    """A passage while it grows; the heading of its largest part names the whole."""

    opening: tuple[Heading, ...]
    path: tuple[Heading, ...] = ()
    blocks: list[Weighed] = field(default_factory=list)
    size: int = 0
    largest: int = -1
    headings: set[Heading] = field(default_factory=set)
    is_bare: bool = False
    """Whether it has headings only, which say nothing alone."""

    def take(self, blocks: list[Weighed], path: tuple[Heading, ...]) -> None:
        """Add a part; headings that are new in the middle of a passage stand in its text."""
        size = sum([each.tokens for each in blocks])
        if self.blocks:
            self.blocks += [line_of(h) for h in path if h not in self.headings]
        self.blocks += blocks
        self.headings.update(self.opening, path)
        self.size += size
        if size > self.largest:
            self.path, self.largest = path, size

    def all_blocks(self) -> list[Weighed]:
        if self.opening is self.path:
            return self.blocks
        return [*(line_of(h) for h in self.opening if h not in self.path), *self.blocks]

    def passage(self) -> Passage:
        blocks = self.all_blocks()
        return Passage(
            text=text_of(blocks), path=self.path, words=sum([each.words for each in blocks])
        )

    @property
    def is_crumb(self) -> bool:
        """Too short to be a chunk."""
        if any(len(each.block.text.lstrip()) >= MIN_CHUNK_TEXT for each in self.blocks):
            return False
        return len(text_of(self.all_blocks())) < MIN_CHUNK_TEXT


def text_of(blocks: list[Weighed]) -> str:
    first, *others = blocks
    parts = [first.block.text]
    for each in others:
        parts += ("\n" * each.block.gap, each.block.text)
    return "".join(parts).strip()


def cut(text: str, *, site: Site = Site.PLAIN, target: int = TARGET_TOKENS) -> list[Passage]:
    """The passages of a Markdown page, in order; together they hold all of its text."""
    return passages_of(titled(blocks_of(text)), site, target)


def passages_of(blocks: list[Block], site: Site, target: int) -> list[Passage]:
    drafts: list[Draft] = []
    for section in sections_of(blocks, site):
        joined = bool(drafts) and belongs_with(drafts[-1], section)
        for number, part in enumerate(portions(section.blocks, target)):
            if number or not joined:
                drafts.append(Draft(opening=section.path, is_bare=section.is_bare))
            drafts[-1].is_bare &= section.is_bare
            drafts[-1].take(part, section.path)
    return [draft.passage() for draft in without_crumbs(drafts)]


def line_of(heading: Heading) -> Weighed:
    """A heading as a line of text."""
    return weighed(Block(Kind.TEXT, f"{'#' * heading.level} {heading.title}"))


def sections_of(blocks: list[Block], site: Site) -> list[Section]:
    """The text, section by section."""
    raw = [(block.level, block.text) for block in blocks if block.kind is Kind.HEADING]
    headings = iter(headings_of(raw, site))
    sections = [Section(path=())]
    for block in blocks:
        if block.kind in HEADINGS:
            above = tuple(h for h in sections[-1].path if h.level < block.level)
            heading = next(headings) if block.kind is Kind.HEADING else unmarked(block, above)
            sections.append(Section(path=(*above, heading)))
        else:
            sections[-1].blocks.append(weighed(block))
    return list(with_empty_headings_kept(sections))


def unmarked(block: Block, above: tuple[Heading, ...]) -> Heading:
    """A heading that only looks like one: links lead to the marked one above it."""
    return Heading(block.level, plain(block.text), above[-1].anchor if above else "")


def with_empty_headings_kept(sections: list[Section]) -> Iterator[Section]:
    """A heading with nothing below it is kept as text, unless it is above the next section."""
    for number, section in enumerate(sections):
        following = sections[number + 1].path if number + 1 < len(sections) else ()
        if section.blocks:
            yield section
        elif section.path and section.path[-1] not in following:
            last = line_of(section.path[-1])
            yield Section(path=section.path[:-1], blocks=[last], is_bare=True)


def belongs_with(draft: Draft, section: Section) -> bool:
    """Whether a draft is only the opening of this section. Sections side by side are never
    joined: a footnote names one heading, and leads there."""
    is_above = draft.path == section.path[: len(draft.path)] and draft.path != section.path
    return is_above and draft.size < SMALL_OPENING


def portions(blocks: list[Weighed], target: int) -> Iterator[list[Weighed]]:
    """A section in parts, none much above the target; an opening goes with what it opens."""
    led: list[Weighed] = []
    parts = list(halved(blocks, target))
    for part in parts[:-1]:
        whole = [*led, *part]
        led = [whole.pop()] if len(whole) > 1 and introduces(whole[-1].block) else []
        yield whole
    if parts:
        yield [*led, *parts[-1]]


def halved(blocks: list[Weighed], target: int) -> Iterator[list[Weighed]]:
    """What is too large for one part is cut in the middle, and each half again if need be.

    The middle is told by number and kind alone. So whatever is written anew in one block, the cuts
    stay where they are: only the part that the block is in may be cut once more, or once less."""
    if sum([each.tokens for each in blocks]) <= target * SLACK and len(blocks) > 1:
        yield blocks
    elif len(blocks) > 1:
        at = middle_of(blocks)
        yield from halved(blocks[:at], target)
        yield from halved(blocks[at:], target)
    elif blocks:
        yield from ([piece] for piece in pieces_of(blocks[0], target))


def middle_of(blocks: list[Weighed]) -> int:
    """Where both sides have about the same, as far as the kinds of their blocks tell."""
    sums = list(accumulate([USUAL_TOKENS[each.block.kind] for each in blocks]))
    half = sums[-1] / 2
    at = bisect_left(sums, half)
    if at and half - sums[at - 1] <= sums[at] - half:
        at -= 1
    return min(at + 1, len(blocks) - 1)


def pieces_of(large: Weighed, target: int) -> Iterator[Weighed]:
    """A block as it is, or in pieces where it is far too large."""
    limit = target if large.block.kind is Kind.TEXT else max(LARGEST_BLOCK, target)
    if large.tokens <= limit:
        yield large
    else:
        yield from map(weighed, split_block(large.block, target, size_of))


def introduces(block: Block) -> bool:
    """Whether a block only makes sense with the next one: "Run these commands:", or a title."""
    if block.kind is not Kind.TEXT:
        return False
    return block.text.endswith((":", ":**")) or BOLD.fullmatch(block.text) is not None


def without_crumbs(drafts: list[Draft]) -> list[Draft]:
    """Drafts too short to be a chunk, and headings without text, go to the one before, or else the
    one after."""
    kept: list[Draft] = []
    was_crumb = False
    for draft in drafts:
        is_crumb = draft.is_crumb or draft.is_bare
        if kept and (is_crumb or was_crumb):
            kept[-1].take(draft.all_blocks(), draft.path)
            kept[-1].is_bare &= draft.is_bare
            was_crumb = kept[-1].is_crumb or kept[-1].is_bare
        else:
            kept.append(draft)
            was_crumb = is_crumb
    return [draft for draft in kept if not draft.is_crumb]


def weighed(block: Block) -> Weighed:
    words = len(block.text.split())
    return Weighed(block, tokens_of(block.text, words), words)


def size_of(text: str) -> int:
    """About how many tokens a text has."""
    return tokens_of(text, len(text.split()))


def tokens_of(text: str, words: int) -> int:
    letters = len(text) if text.isascii() else len(text.encode())
    by_words, by_letters = words * TOKENS_PER_WORD, letters / BYTES_PER_TOKEN
    # Not max(): every block of every page comes by here, and a call takes as long as all of this.
    return int(by_words if by_words > by_letters else by_letters) + 1


PARAGRAPH = re.compile(r"\n[ \t]*\n+")


def cut_plain(text: str, *, target: int = TARGET_TOKENS) -> list[Passage]:
    """The passages of a text without markup: paragraphs, as many as fit."""
    paragraphs = [
        Block(Kind.TEXT, paragraph.strip("\n").rstrip())
        for paragraph in PARAGRAPH.split(text)
        if paragraph.strip()
    ]
    return passages_of(titled(paragraphs), Site.PLAIN, target)
