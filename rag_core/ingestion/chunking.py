"""Cuts a page into passages: by headings, about one size, whole blocks where that can be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil

from rag_core.ingestion.blocks import Block, Kind, blocks_of
from rag_core.ingestion.documents import MIN_CHUNK_TEXT
from rag_core.ingestion.headings import Heading, Site, headings_of
from rag_core.ingestion.splitting import split_block

TARGET_TOKENS = 400
LARGEST_BLOCK = 600
"""A code block, table or list item up to this size stays whole, above the target too."""
SMALL_OPENING = 15
"""A title and a line say too little alone: what is below this joins its first subsection."""
SLACK = 1.25
"""How far above the target a passage of several blocks may be, to keep parts even."""
TOKENS_PER_WORD = 1.3
BYTES_PER_TOKEN = 6
"""Holds text without spaces to the same size: long addresses, Chinese, Thai."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a page, and the headings that it stands under."""

    text: str
    path: tuple[Heading, ...]


Weighed = tuple[Block, int]
"""A block and about how many tokens it has, which is counted once."""


@dataclass(slots=True)
class Section:
    """The blocks under one heading, up to the next heading of any level."""

    path: tuple[Heading, ...]
    blocks: list[Weighed] = field(default_factory=list)
    size: int = 0

    def add(self, block: Block, size: int) -> None:
        self.blocks.append((block, size))
        self.size += size


@dataclass(slots=True)
class Draft:
    """A passage while it grows; the heading of its largest part names the whole."""

    opening: tuple[Heading, ...]
    path: tuple[Heading, ...] = ()
    blocks: list[Block] = field(default_factory=list)
    size: int = 0
    largest: int = -1
    headings: set[Heading] = field(default_factory=set)

    def take(self, blocks: list[Block], size: int, path: tuple[Heading, ...]) -> None:
        """Add a part; headings that are new in the middle of a passage stand in its text."""
        if self.blocks:
            self.blocks += [line_of(h) for h in path if h not in self.headings]
        self.blocks += blocks
        self.headings |= {*self.opening, *path}
        self.size += size
        if size > self.largest:
            self.path, self.largest = path, size

    def all_blocks(self) -> list[Block]:
        if self.opening is self.path:
            return self.blocks
        return [*(line_of(h) for h in self.opening if h not in self.path), *self.blocks]

    def text(self) -> str:
        first, *others = self.all_blocks()
        parts = [first.text]
        for each in others:
            parts += ("\n" * each.gap, each.text)
        return "".join(parts).strip()

    @property
    def is_crumb(self) -> bool:
        """Too short to be a chunk."""
        if any(len(block.text.lstrip()) >= MIN_CHUNK_TEXT for block in self.blocks):
            return False
        return len(self.text()) < MIN_CHUNK_TEXT


def cut(text: str, *, site: Site = Site.PLAIN, target: int = TARGET_TOKENS) -> list[Passage]:
    """The passages of a Markdown page, in order; together they hold all of its text."""
    drafts: list[Draft] = []
    for section in sections_of(blocks_of(text), site):
        joined = bool(drafts) and belongs_with(drafts[-1], section, target)
        for number, (blocks, size) in enumerate(portions(section, target)):
            if number or not joined:
                drafts.append(Draft(opening=section.path))
            drafts[-1].take(blocks, size, section.path)
    return passages_of(drafts)


def passages_of(drafts: list[Draft]) -> list[Passage]:
    return [Passage(text=draft.text(), path=draft.path) for draft in without_crumbs(drafts)]


def line_of(heading: Heading) -> Block:
    """A heading as a line of text."""
    return Block(Kind.TEXT, f"{'#' * heading.level} {heading.title}")


def sections_of(blocks: list[Block], site: Site) -> list[Section]:
    """The text, section by section."""
    raw = [(block.level, block.text) for block in blocks if block.kind is Kind.HEADING]
    headings = iter(headings_of(raw, site))
    sections = [Section(path=())]
    for block in blocks:
        if block.kind is Kind.HEADING:
            heading = next(headings)
            above = tuple(h for h in sections[-1].path if h.level < heading.level)
            sections.append(Section(path=(*above, heading)))
        else:
            sections[-1].add(block, size_of(block.text))
    return list(with_empty_headings_kept(sections))


def with_empty_headings_kept(sections: list[Section]) -> Iterator[Section]:
    """A heading with nothing below it is kept as text, unless it is above the next section."""
    for number, section in enumerate(sections):
        following = sections[number + 1].path if number + 1 < len(sections) else ()
        if section.blocks:
            yield section
        elif section.path and section.path[-1] not in following:
            line = line_of(section.path[-1])
            yield Section(path=section.path[:-1], blocks=[(line, size_of(line.text))], size=1)


def belongs_with(draft: Draft, section: Section, target: int) -> bool:
    """Whether a draft is only the opening of this section. Sections side by side are never
    joined: a footnote names one heading, and leads there."""
    is_above = draft.path == section.path[: len(draft.path)] and draft.path != section.path
    return is_above and draft.size < SMALL_OPENING and draft.size + section.size <= target


def portions(section: Section, target: int) -> Iterator[tuple[list[Block], int]]:
    """A section in parts of even size, none much above the target."""
    aim = section.size / max(1, ceil(section.size / target))
    part: list[Weighed] = []
    size = 0
    for block, weight in whole_blocks(section.blocks, target):
        if part and (size + weight / 2 > aim or size + weight > target * SLACK):
            led = [part.pop()] if len(part) > 1 and introduces(part[-1][0]) else []
            yield weighed(part)
            part, size = led, sum(each for _, each in led)
        part.append((block, weight))
        size += weight
    if part:
        yield weighed(part)


def weighed(part: list[Weighed]) -> tuple[list[Block], int]:
    return [block for block, _ in part], sum(size for _, size in part)


def whole_blocks(blocks: list[Weighed], target: int) -> Iterator[Weighed]:
    """The blocks as they are, the few that are far too large in pieces."""
    for block, size in blocks:
        limit = target if block.kind is Kind.TEXT else max(LARGEST_BLOCK, target)
        if size <= limit:
            yield block, size
        else:
            for piece in split_block(block, target, size_of):
                yield piece, size_of(piece.text)


def introduces(block: Block) -> bool:
    """Whether a block only makes sense with the next one: "Run these commands:"."""
    return block.kind is Kind.TEXT and block.text.endswith(":")


def without_crumbs(drafts: list[Draft]) -> list[Draft]:
    """Drafts too short to be a chunk go to the one before, or else the one after."""
    kept: list[Draft] = []
    was_crumb = False
    for draft in drafts:
        is_crumb = draft.is_crumb
        if kept and (is_crumb or was_crumb):
            kept[-1].take(draft.all_blocks(), draft.size, draft.path)
            was_crumb = kept[-1].is_crumb
        else:
            kept.append(draft)
            was_crumb = is_crumb
    return [draft for draft in kept if not draft.is_crumb]


def size_of(text: str) -> int:
    """About how many tokens a text has."""
    letters = len(text) if text.isascii() else len(text.encode())
    return int(max(len(text.split()) * TOKENS_PER_WORD, letters / BYTES_PER_TOKEN)) + 1


PARAGRAPH = re.compile(r"\n[ \t]*\n+")


def cut_plain(text: str, *, target: int = TARGET_TOKENS) -> list[Passage]:
    """The passages of a text without markup: paragraphs, as many as fit."""
    section = Section(path=())
    for paragraph in PARAGRAPH.split(text):
        if paragraph.strip():
            block = Block(Kind.TEXT, paragraph.strip("\n").rstrip())
            section.add(block, size_of(block.text))
    drafts = []
    for blocks, size in portions(section, target):
        drafts.append(Draft(opening=()))
        drafts[-1].take(blocks, size, ())
    return passages_of(drafts)
