"""From the lines of pages to headings and paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_core.ingestion.loaders.pdf_lines import Line
from rag_core.ingestion.loaders.pdf_tables import table_at

LARGE = 1.15
"""So much larger than the text is what stands above a section."""
LONGEST_HEADING = 120
MOST_LINES = 3
MOST_LEVELS = 4
"""Of headings; the page itself stands below them."""
FEWEST_PAGES = 3
OFTEN = 0.4
"""Lines at the edge of so many of the pages belong to the paper and not to the text."""
EDGE = 2
NUMBER_ALONE = re.compile(r"^[\W_]*(?:\d{1,4}|[ivxlc]{1,6})[\W_]*$", re.IGNORECASE)
BULLET = re.compile(r"^\s*[•‣▪◦●○■□–—·*-]\s+(?=\S)")
NUMBERED = re.compile(r"^\s*\(?(?:\d{1,3}|[a-z])[.)]\s+\S")
SENTENCE_END = re.compile(r"[.!?:;…。！？][\"'”’)\]]*$")
NUMBER = re.compile(r"^[\s\d.ivxlcIVXLCA-Z]*[\s.:)]+(?=\S)")


@dataclass(frozen=True, slots=True)
class Part:
    """A heading (of some level) or a paragraph (level 0)."""

    text: str
    level: int = 0
    is_item: bool = False
    is_table: bool = False


Titles = Mapping[str, int]
"""The headings of one page as the PDF's own table of contents has them, and their levels."""


def parts_of(pages: Sequence[Sequence[Line]], outline: Mapping[int, Titles]) -> list[list[Part]]:
    """The headings and paragraphs of every page, in order."""
    passed_over = running_lines(pages)
    levels = {} if outline else heading_levels(pages)
    return [
        list(page_parts(
            [line for place, line in enumerate(lines)
             if not is_running(place, line, lines, passed_over)],
            {key(title): level for title, level in outline.get(number, {}).items()},
            levels,
        ))
        for number, lines in enumerate(pages)
    ]  # fmt: skip


def running_lines(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """What stands at the edge of page after page: the book's name, the page's number."""
    if len(pages) < FEWEST_PAGES:
        return frozenset()
    seen = Counter(text for lines in pages for text in {shape(line.text) for line in edges(lines)})
    often = max(FEWEST_PAGES, len(pages) * OFTEN)
    return frozenset(
        text for text, times in seen.items() if times >= (FEWEST_PAGES if "#" in text else often)
    )


def edges(lines: Sequence[Line]) -> Sequence[Line]:
    edge = edge_of(lines)
    return [*lines[:edge], *lines[len(lines) - edge :]]


def edge_of(lines: Sequence[Line]) -> int:
    """How many lines at the top and at the bottom may not belong to the text of a page."""
    return EDGE if len(lines) > 2 * EDGE else int(len(lines) > EDGE)


def shape(text: str) -> str:
    """A line with its numbers made equal."""
    return re.sub(r"\d+", "#", text)


def is_running(place: int, line: Line, lines: Sequence[Line], running: frozenset[str]) -> bool:
    edge = edge_of(lines)
    if edge <= place < len(lines) - edge:
        return False
    is_outermost = place in {0, len(lines) - 1}
    return shape(line.text) in running or (is_outermost and bool(NUMBER_ALONE.match(line.text)))


def heading_levels(pages: Sequence[Sequence[Line]]) -> Mapping[float, int]:
    """The sizes that headings have, the largest first; the size of most of the text is body."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[line.size] += len(line.text)
    if not sizes:
        return {}
    body = sizes.most_common(1)[0][0]
    large = sorted((size for size in sizes if size >= body * LARGE), reverse=True)
    return {size: min(level, MOST_LEVELS) for level, size in enumerate(large, start=1)}


def page_parts(
    lines: Sequence[Line], titles: Titles, levels: Mapping[float, int]
) -> Iterator[Part]:
    wide = max((line.right for line in lines), default=0.0)
    held: list[Line] = []
    at = 0
    while at < len(lines):
        heading, taken = heading_at(lines, at, titles, levels)
        if heading is not None:
            yield from paragraph(held)
            yield heading
            held = []
        elif (found := table_at(lines, at))[1]:
            yield from paragraph(held)
            yield Part(found[0], is_table=True)
            held, taken = [], found[1]
        elif held and begins_anew(held[-1], lines[at], wide):
            yield from paragraph(held)
            held = [lines[at]]
        else:
            held.append(lines[at])
        at += taken
    yield from paragraph(held)


def heading_at(
    lines: Sequence[Line], at: int, titles: Titles, levels: Mapping[float, int]
) -> tuple[Part | None, int]:
    """The heading that begins at a line, and how many lines it has; the longest that there is."""
    for taken in range(min(MOST_LINES, len(lines) - at), 0, -1):
        these = lines[at : at + taken]
        text = " ".join(line.text for line in these)
        level = titles.get(key(text)) or level_of(these, levels)
        if level and len(text) <= LONGEST_HEADING:
            return Part(text, level), taken
    return None, 1


def level_of(lines: Sequence[Line], levels: Mapping[float, int]) -> int:
    """The level of lines of one size, close below each other."""
    first = lines[0]
    level = levels.get(first.size, 0)
    close = all(
        line.size == first.size and before.bottom - line.top < first.size / 2
        for before, line in pairwise(lines)
    )
    return level if close else 0


def largest(lines: Sequence[Line]) -> str:
    """What stands largest on a page, as a title does; nothing where all is of one size."""
    if not lines:
        return ""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    size = max(sizes)
    if size < sizes.most_common(1)[0][0] * LARGE:
        return ""
    at = next(place for place, line in enumerate(lines) if line.size == size)
    heading, _ = heading_at(lines, at, {}, {size: 1})
    return heading.text if heading else ""


def begins_anew(before: Line, line: Line, wide: float) -> bool:
    """Whether a line is the first of another paragraph than the one before it."""
    if BULLET.match(line.text) or NUMBERED.match(line.text):
        return True
    height = max(before.size, line.size, 1.0)
    gap = before.bottom - line.top
    if gap > height * 0.9 or gap < -height * 3:  # far below, or further up: another column
        return True
    is_short = before.right < before.left + (wide - before.left) * 0.8
    if is_short and SENTENCE_END.search(before.text):
        return True
    return line.left > before.left + height and bool(SENTENCE_END.search(before.text))


def paragraph(lines: Sequence[Line]) -> Iterator[Part]:
    if not lines:
        return
    text = " ".join(line.text for line in lines)
    is_item = bool(BULLET.match(text))
    yield Part(BULLET.sub("", text) if is_item else text, is_item=is_item)


def key(title: str) -> str:
    """A heading as it is compared: without its number, letters and digits only."""
    bare = "".join(character for character in title.casefold() if character.isalnum())
    return "".join(c for c in NUMBER.sub("", title).casefold() if c.isalnum()) or bare
