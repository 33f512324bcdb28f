"""A Markdown text as the blocks it is made of; put together again they are the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

FENCE = re.compile(r"^[ \t>]*(?:(`{3,})[^`\n]*|(~{3,}).*)$")
HEADING = re.compile(r"^ {0,3}#{1,6}\s")
ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
TABLE = re.compile(r"^\s*\|.*\|?\s*$")
INLINE_CODE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?P<inside>[^\n]*?)(?<!`)(?P=ticks)(?!`)")
"""Within one line: what reaches over a line end is code to some readers and prose to others."""


class BlockKind(StrEnum):
    """What a block is: code is never touched, the others are read sentence by sentence."""

    CODE = "code"
    HEADING = "heading"
    ITEM = "item"
    TABLE = "table"
    PARAGRAPH = "paragraph"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class Block:
    """One block with its line ends."""

    kind: BlockKind
    text: str


def blocks_of(text: str) -> tuple[Block, ...]:
    """The blocks in order; nothing is added or lost."""
    return tuple(joined(block_lines(text.splitlines(keepends=True))))


def block_lines(lines: list[str]) -> Iterator[Block]:
    """One block a line, but a fenced block is one from fence to fence (or to the end)."""
    position = 0
    while position < len(lines):
        opening = FENCE.match(lines[position].rstrip("\r\n"))
        if not opening:
            yield Block(kind_of(lines[position]), lines[position])
            position += 1
            continue
        end = fence_end(lines, position, opening.group(1) or opening.group(2))
        yield Block(BlockKind.CODE, "".join(lines[position:end]))
        position = end


def fence_end(lines: list[str], start: int, fence: str) -> int:
    """The line after the closing fence: as long as the opening one, of the same character."""
    for position in range(start + 1, len(lines)):
        if is_closing(lines[position], fence):
            return position + 1
    return len(lines)


def is_closing(line: str, fence: str) -> bool:
    bare = line.strip(" \t>\r\n")
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


def kind_of(line: str) -> BlockKind:
    if not line.strip():
        return BlockKind.BLANK
    if HEADING.match(line):
        return BlockKind.HEADING
    if ITEM.match(line):
        return BlockKind.ITEM
    return BlockKind.TABLE if TABLE.match(line) else BlockKind.PARAGRAPH


def joined(blocks: Iterator[Block]) -> Iterator[Block]:
    """Lines that belong together as one block: paragraphs, tables, wrapped list items."""
    held: Block | None = None
    for block in blocks:
        if held is not None and continues(held, block):
            held = Block(held.kind, held.text + block.text)
            continue
        if held is not None:
            yield held
        held = block
    if held is not None:
        yield held


def continues(held: Block, block: Block) -> bool:
    if block.kind is BlockKind.PARAGRAPH:
        return held.kind in {BlockKind.PARAGRAPH, BlockKind.ITEM}
    return block.kind is held.kind and block.kind in {BlockKind.TABLE, BlockKind.BLANK}
