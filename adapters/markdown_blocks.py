"""The blocks of a Markdown text: what stays whole when a long text is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

FENCE_OPENING = re.compile(r"[ \t]*+(?:(`{3,}+)[^`]*+|(~{3,}+).*+)", re.DOTALL)
HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
LIST_MARKER = re.compile(r"[ \t]*(?:[-*+•]|[0-9]{1,9}[.)])(?:[ \t]|$)")
TABLE_RULE = frozenset(" \t|:-")

Span = tuple[int, int]


class BlockKind(Enum):
    """What a block is, as far as cutting it is concerned."""

    TEXT = auto()
    HEADING = auto()
    TABLE = auto()
    FENCE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Whole lines of a text that belong together: `text[start:end]`."""

    kind: BlockKind
    start: int
    end: int
    head_end: int
    """Where the opening line of a fence or the header of a table ends; else the block's start."""
    marker: str = ""
    """The characters that open a fence."""
    closed_from: int | None = None
    """Where a fence's closing line begins; None when the fence is never closed."""

    @property
    def missing_end(self) -> str:
        """What closes a fence that its author left open."""
        return f"\n{self.marker}" if self.marker and self.closed_from is None else ""


def blocks_of(text: str) -> Iterator[Block]:
    """Every block in order; between them there is nothing but white space."""
    lines = line_spans(text, 0, len(text))
    index = 0
    while index < len(lines):
        if is_blank(text, lines[index]):
            index += 1
            continue
        block, index = _block_at(text, lines, index)
        yield block


def line_spans(text: str, start: int, end: int) -> list[Span]:
    """The lines between two places, each without its line feed."""
    spans = []
    while (feed := text.find("\n", start, end)) >= 0:
        spans.append((start, feed))
        start = feed + 1
    spans.append((start, end))
    return spans


def is_blank(text: str, line: Span) -> bool:
    return not text[line[0] : line[1]].strip()


def left_open(text: str) -> str:
    """The marker of the fence that is still open at the end of a text, or nothing."""
    marker = ""
    for start, end in line_spans(text, 0, len(text)):
        line = text[start:end]
        if not marker:
            marker = opens(line)
        elif closes(line, marker):
            marker = ""
    return marker


def opens(line: str) -> str:
    """The marker of the fence that this line opens, or nothing."""
    found = FENCE_OPENING.fullmatch(line)
    return (found[1] or found[2]) if found else ""


def closes(line: str, marker: str) -> bool:
    bare = line.strip(" \t")
    return len(bare) >= len(marker) and bare.count(marker[0]) == len(bare)


def _block_at(text: str, lines: Sequence[Span], index: int) -> tuple[Block, int]:
    start, end = lines[index]
    if marker := opens(text[start:end]):
        return _fence(text, lines, index, marker)
    if _opens_table(text, lines, index):
        return _table(text, lines, index)
    if HEADING.match(text, start, end):
        block = Block(kind=BlockKind.HEADING, start=start, end=end, head_end=start)
        return block, index + 1
    following = _run(text, lines, index + 1)
    end = lines[following - 1][1]
    return Block(kind=BlockKind.TEXT, start=start, end=end, head_end=start), following


def _fence(text: str, lines: Sequence[Span], index: int, marker: str) -> tuple[Block, int]:
    start, head_end = lines[index]
    closing = index + 1
    while closing < len(lines) and not closes(text[slice(*lines[closing])], marker):
        closing += 1
    closed = closing < len(lines)
    block = Block(
        kind=BlockKind.FENCE,
        start=start,
        end=lines[closing][1] if closed else max(head_end, len(text.rstrip())),
        head_end=head_end,
        marker=marker,
        closed_from=lines[closing][0] if closed else None,
    )
    return block, closing + 1


def _table(text: str, lines: Sequence[Span], index: int) -> tuple[Block, int]:
    following = index + 2
    while following < len(lines) and _is_row(text, lines[following]):
        following += 1
    block = Block(
        kind=BlockKind.TABLE,
        start=lines[index][0],
        end=lines[following - 1][1],
        head_end=lines[index + 1][1],
    )
    return block, following


def _is_row(text: str, line: Span) -> bool:
    row = text[slice(*line)]
    return "|" in row and not opens(row)


def _opens_table(text: str, lines: Sequence[Span], index: int) -> bool:
    if index + 1 >= len(lines) or "|" not in text[slice(*lines[index])]:
        return False
    rule = text[slice(*lines[index + 1])]
    return "|" in rule and "-" in rule and TABLE_RULE.issuperset(rule)


def _run(text: str, lines: Sequence[Span], index: int) -> int:
    """The index after the last line that goes on with a paragraph or a list item."""
    while index < len(lines):
        line = text[slice(*lines[index])]
        if not line.strip() or opens(line) or HEADING.match(line) or LIST_MARKER.match(line):
            break
        if _opens_table(text, lines, index):
            break
        index += 1
    return index
