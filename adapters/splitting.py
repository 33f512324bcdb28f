"""Long Markdown → parts within a limit; code, tables, list items and links stay whole.

A part is an exact slice of the text, with what keeps it readable by itself around it: the opening
line of a code fence or the header of a table before it, the end of a fence after it. The slices
follow each other, and between two of them nothing but white space is left out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.graphemes import safe_cut
from adapters.markdown_blocks import Block, BlockKind, Span, blocks_of, left_open, line_spans

MIN_LIMIT = 100
WHOLE = re.compile(
    r"!?\[[^\[\]\n]*+\]\((?:[^()\s]|\([^()\s]*+\))*+(?:[ \t]++\"[^\"\n]*+\")?\)"
    r"|<[a-z][a-z0-9+.-]*+:[^<>\s]*+>|`[^`\n]++`"
)
"""Links and code within a line: not cut unless they alone are longer than the limit."""
SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]*_]{0,4}(?=\s)|[。！？]")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a text: a slice of it, and what was added to make it stand alone."""

    start: int
    end: int
    opening: str = ""
    closing: str = ""

    @property
    def size(self) -> int:
        return len(self.opening) + self.end - self.start + len(self.closing)

    def of(self, text: str) -> str:
        return self.opening + text[self.start : self.end] + self.closing


def split_text(text: str, limit: int) -> list[str]:
    """The parts of a text in order: none empty, none longer than the limit, nothing lost."""
    return [part.of(text) for part in split_parts(text, limit)]


def split_parts(text: str, limit: int) -> list[Part]:
    """The same parts as slices of the text; time is linear in its length."""
    if limit < MIN_LIMIT:
        raise ValueError(f"parts need a limit of at least {MIN_LIMIT} characters")
    parts: list[Part] = []
    for unit in _units(text, limit):
        joined = _joined(text, parts[-1], unit) if parts else None
        if joined is not None and joined.size <= limit:
            parts[-1] = joined
        else:
            parts.append(unit)
    return parts


def _joined(text: str, last: Part, following: Part) -> Part | None:
    """Two parts as one slice, unless we closed or opened something between them.

    What begins within a line stays apart: it was judged as the first line of its part."""
    if last.closing or following.opening or text[following.start - 1] != "\n":
        return None
    return Part(last.start, following.end, last.opening, following.closing)


def _units(text: str, limit: int) -> Iterator[Part]:
    """Blocks that fit as they are, a heading together with what it heads, the rest cut."""
    heading: Part | None = None
    for block in blocks_of(text):
        start = heading.start if heading else block.start
        whole = Part(start, block.end, closing=block.missing_end)
        if block.kind is BlockKind.HEADING and whole.size <= limit // 4:
            heading = whole
        elif whole.size <= limit:
            yield whole
            heading = None
        else:
            if heading:
                yield heading
            yield from _cut(text, block, limit)
            heading = None
    if heading:
        yield heading


def _cut(text: str, block: Block, limit: int) -> Iterator[Part]:
    if Part(block.start, block.end, closing=block.missing_end).size <= limit:
        return iter([Part(block.start, block.end, closing=block.missing_end)])
    if block.kind is BlockKind.FENCE:
        return _cut_fence(text, block, limit)
    if block.kind is BlockKind.TABLE:
        return _cut_table(text, block, limit)
    return _cut_words(text, block.start, block.end, limit)


def _cut_fence(text: str, block: Block, limit: int) -> Iterator[Part]:
    """Close the fence at the end of a part and open it again, with its language, in the next."""
    opening, closing = text[block.start : block.head_end] + "\n", f"\n{block.marker}"
    code_end = block.end if block.closed_from is None else block.closed_from - 1
    reserve = max(len(closing), block.end - code_end)
    room = limit - len(opening) - reserve
    lines = line_spans(text, block.head_end + 1, code_end) if code_end > block.head_end else []
    if room < limit // 2 or _breaks_fence(text, lines, room, block.marker[0]):
        return _cut_words(text, block.start, block.end, limit)
    spans = [piece for line in lines for piece in _pieces(text, line, room)]
    return _cut_lines(block, spans, limit - reserve, opening=opening, closing=closing)


def _breaks_fence(text: str, lines: Sequence[Span], room: int, character: str) -> bool:
    """Whether a line must be cut that, in pieces, could be taken for the end of its fence."""
    run = character * 3
    return any(end - start > room and run in text[start:end] for start, end in lines)


def _cut_table(text: str, block: Block, limit: int) -> Iterator[Part]:
    """Repeat the header above the rows of every further part."""
    opening = text[block.start : block.head_end] + "\n"
    room = limit - len(opening)
    rows = line_spans(text, block.head_end + 1, block.end)
    if room < limit // 2 or any(end - start > room for start, end in rows):
        return _cut_words(text, block.start, block.end, limit)
    return _cut_lines(block, rows, limit, opening=opening, closing="")


def _cut_lines(
    block: Block, spans: Sequence[Span], room: int, *, opening: str, closing: str
) -> Iterator[Part]:
    start, end, opened = block.start, block.head_end, ""
    for line_start, line_end in spans:
        if len(opened) + line_end - start > room:
            yield Part(start, end, opened, closing)
            start, opened = line_start, opening
        end = line_end
    yield Part(start, block.end, opened, block.missing_end)


def _pieces(text: str, line: Span, room: int) -> Iterator[Span]:
    start, end = line
    while end - start > room:
        cut = safe_cut(text, start, start + room)
        yield start, cut
        start = cut
    yield start, end


def _cut_words(text: str, start: int, end: int, limit: int) -> Iterator[Part]:
    """Cut at line ends, sentence ends or spaces; one long word between its characters."""
    whole = [found.span() for found in WHOLE.finditer(text, start, end)]
    start = _after_gap(text, start, end, limit // 8)
    while start < end:
        cut = _best_cut(text, (start, end), limit, whole)
        marker = left_open(text[start:cut])
        if marker:  # what was within a line now looks like a fence: close it, with room to do so
            cut = _best_cut(text, (start, end), limit // 3, whole)
            marker = left_open(text[start:cut])
        kept = start + len(text[start:cut].rstrip())
        if kept == start:  # one character with hundreds of marks behind a little white space
            kept = cut = start + limit // 3
        yield Part(start, kept, closing=f"\n{marker}" if marker else "")
        start = _after_gap(text, cut, end, limit // 8)


def _after_gap(text: str, cut: int, end: int, indent: int) -> int:
    """The next place with text, with its line's indentation if that is not absurdly long."""
    place = cut
    while place < end and text[place].isspace():
        place += 1
    feed = text.rfind("\n", max(cut - 1, 0), place)
    return feed + 1 if feed >= 0 and place < end and place - feed <= indent else place


def _best_cut(text: str, span: Span, limit: int, whole: Sequence[Span]) -> int:
    start, end = span
    if end - start <= limit:
        return end
    last = start + limit
    around = _around(whole, last)
    if around and start < around[0]:
        last = around[0]
    first = start + limit // 2
    if last <= first:
        return last
    return (
        _last_line_end(text, first, last)
        or _last_sentence_end(text, first, last, whole)
        or _last_space(text, first, last, whole)
        or (last if around and last == around[0] else safe_cut(text, start, last))
    )


def _last_line_end(text: str, first: int, last: int) -> int | None:
    feed = text.rfind("\n", first, last + 1)
    return feed if feed >= 0 else None


def _last_sentence_end(text: str, first: int, last: int, whole: Sequence[Span]) -> int | None:
    ends = [found.end() for found in SENTENCE_END.finditer(text, first, last)]
    return next((end for end in reversed(ends) if not _around(whole, end)), None)


def _last_space(text: str, first: int, last: int, whole: Sequence[Span]) -> int | None:
    place = last
    while place > first:
        around = _around(whole, place)
        if around:
            place = around[0]
        elif text[place].isspace():
            return place
        else:
            place -= 1
    return None


def _around(whole: Sequence[Span], place: int) -> Span | None:
    """The link or code that this place would cut in two."""
    index = bisect_right(whole, (place, -1)) - 1
    if index >= 0 and whole[index][0] < place < whole[index][1]:
        return whole[index]
    return None
