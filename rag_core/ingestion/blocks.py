"""A Markdown text as a row of blocks: headings, paragraphs, list items, tables, code."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

HEADING = re.compile(r" {0,3}(#{1,6})(?![^ \t])")
"""How one begins; what is read to its end goes over its white space again and again."""
UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[^`]*")
ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
TABLE_RULE = re.compile(
    r"[ \t]*+(?:\|[ \t]*+)?+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+(?:\|[ \t]*+)?+"
)
STARTERS = frozenset("#`~-*+0123456789")
"""What a line begins with that is a heading, a fence or an item: others need no closer look."""
UNUSUAL = STARTERS | frozenset(" \t")
"""What a line does not begin with that is a paragraph, if a blank line follows."""
UNDERLINES = frozenset("=-")
FENCES = frozenset("`~")
LONGEST_TITLE = 5
"""Lines of an underlined heading: more of them are text above a rule."""


class Kind(StrEnum):
    """What a block is: some must not be cut."""

    HEADING = "heading"
    TITLE = "title"
    """A heading that is not marked as one, and so has no place of its own to link to."""
    TEXT = "text"
    ITEM = "item"
    TABLE = "table"
    CODE = "code"


class Block(NamedTuple):
    """A few lines that belong together, and how many line ends stand before them."""

    kind: Kind
    text: str
    gap: int = 2
    level: int = 0
    """Of a heading, 1 to 6."""


def blocks_of(text: str) -> list[Block]:
    """Every line that is not blank, in order, as part of one block."""
    lines = text.split("\n")
    total = len(lines)
    blocks: list[Block] = []
    at = end = 0
    while at < total:
        line = lines[at]
        if not line or line.isspace():
            at += 1
            continue
        gap = min(at - end + 1, 3)
        if line[0] not in UNUSUAL and (at + 1 == total or not lines[at + 1]):
            blocks.append(Block(Kind.TEXT, line.rstrip(), gap))
            at += 1
        else:
            kind, after = block_at(lines, at)
            blocks.append(made(kind, lines[at:after], gap))
            at = after
        end = at
    return blocks


def made(kind: Kind, lines: list[str], gap: int) -> Block:
    if kind is not Kind.HEADING:
        if len(lines) == 1:
            return Block(kind, lines[0].rstrip(), gap)
        return Block(kind, "\n".join([line.rstrip() for line in lines]), gap)
    match = HEADING.match(lines[0])
    if len(lines) == 1 and match:
        title = without_closing(lines[0][match.end() :].strip())
        return Block(kind, title, gap, level=len(match[1]))
    title = " ".join(line.strip() for line in lines[:-1])
    return Block(kind, title, gap, level=1 if "=" in lines[-1] else 2)


def without_closing(title: str) -> str:
    """A heading's words without the marks that may stand behind them."""
    words = title.rstrip("#")
    if words == title or (words and words[-1] not in " \t"):
        return title
    return words.rstrip()


def block_at(lines: list[str], at: int) -> tuple[Kind, int]:
    """What begins at this line, and the line after its end."""
    line = lines[at]
    first = line.lstrip()[:1]
    if first == "#":
        if HEADING.match(line):
            return Kind.HEADING, at + 1
    elif first in STARTERS:
        if first in FENCES and FENCE.fullmatch(line):
            return Kind.CODE, fence_end(lines, at)
        if ITEM.match(line):
            return Kind.ITEM, item_end(lines, at)
    if is_table(lines, at):
        return Kind.TABLE, table_end(lines, at)
    return paragraph_at(lines, at)


def fence_end(lines: list[str], at: int) -> int:
    """The line after the closing fence; an open one runs to the end of the text."""
    opening = FENCE.fullmatch(lines[at])
    mark = opening[1] if opening else "```"
    for number in range(at + 1, len(lines)):
        closing = lines[number].strip()
        if closing.startswith(mark) and not closing.strip(mark[0]):
            return number + 1
    return len(lines)


def is_table(lines: list[str], at: int) -> bool:
    return (
        "|" in lines[at]
        and at + 1 < len(lines)
        and "-" in lines[at + 1]
        and TABLE_RULE.fullmatch(lines[at + 1]) is not None
    )


def table_end(lines: list[str], at: int) -> int:
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return end


def item_end(lines: list[str], at: int) -> int:
    """A list item with all that is indented below it; the next item of its list ends it."""
    margin = indent(lines[at])
    number = at + 1
    while number < len(lines):
        line = lines[number]
        first = line.lstrip()[:1]
        if not first:
            following = next_filled(lines, number)
            if following == len(lines) or indent(lines[following]) < margin + 2:
                return number
            number = following
            continue
        if first in FENCES and FENCE.fullmatch(line) and indent(line) > margin:
            number = fence_end(lines, number)
            continue
        if indent(line) <= margin and begins_block(lines, number):
            return number
        number += 1
    return number


def paragraph_at(lines: list[str], at: int) -> tuple[Kind, int]:
    """Lines up to a blank one or another block; underlined, they are a heading."""
    number = at + 1
    while number < len(lines) and (line := lines[number].lstrip()):
        if line[0] in UNDERLINES and UNDERLINE.fullmatch(lines[number]):
            is_title = number - at <= LONGEST_TITLE
            return (Kind.HEADING if is_title else Kind.TEXT), number + 1
        if begins_block(lines, number):
            break
        number += 1
    return Kind.TEXT, number


def begins_block(lines: list[str], at: int) -> bool:
    """Whether a line begins something other than more of the same paragraph."""
    line = lines[at]
    first = line.lstrip()[:1]
    if first in STARTERS and (FENCE.fullmatch(line) or HEADING.match(line) or ITEM.match(line)):
        return True
    return is_table(lines, at)


def indent(line: str) -> int:
    if "\t" not in line:
        return len(line) - len(line.lstrip())
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def next_filled(lines: list[str], at: int) -> int:
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at
