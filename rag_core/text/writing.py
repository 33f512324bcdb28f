"""Writes the tree as Markdown that every reader of Markdown understands alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from rag_core.text.tree import (
    ESCAPE,
    Block,
    Blocks,
    Code,
    Emphasis,
    Fence,
    Heading,
    Inlines,
    ItemList,
    LineBreak,
    Paragraph,
    Quote,
    Rule,
    Table,
    Text,
)

MARKDOWN = re.compile(r"[\\`*_{}\[\]()#+\-.!<>|~&:=]")
"""Everything that may mean something in Markdown, somewhere."""
BACKTICKS = re.compile("`+")
RULES = {"": "---", "left": ":--", "right": "--:", "center": ":-:"}
OTHER_BULLET = {"-": "*", "*": "-", "+": "-", ".": ")", ")": "."}


class MarkdownWriter:
    """CommonMark with tables. `cautious` escapes every sign and sets every block apart; else
    words stand as their author wrote them."""

    def __init__(self, *, cautious: bool = False) -> None:
        self._cautious = cautious

    def write(self, blocks: Blocks) -> str:
        written = ""
        before: Block | None = None
        for block in blocks:
            if isinstance(block, ItemList) and isinstance(before, ItemList):
                block = with_other_mark(block, before)
            if before is not None:
                written += "\n\n" if self._is_apart(block, before) else "\n"
            written += self._block(block)
            before = block
        return written

    def _is_apart(self, block: Block, before: Block) -> bool:
        return block.apart or self._cautious or isinstance(block, Rule)

    def _block(self, block: Block) -> str:
        match block:
            case Paragraph():
                return self.line(block.children)
            case Heading():
                return f"{'#' * block.level} {self.line(block.children)}"
            case Fence():
                return write_fence(block)
            case ItemList():
                return self._items(block)
            case Quote():
                return prefix_lines(self.write(block.blocks), "> ", "> ")
            case Table():
                return self.table(block)
            case _:
                return "***"

    def _items(self, items: ItemList) -> str:
        written = ""
        for number, item in enumerate(items.items):
            gap = "\n\n" if item.apart else "\n"
            count = "" if items.start is None else str(items.start + number)
            marker = f"{count}{items.mark} "
            text = prefix_lines(self.write(item.blocks), marker, " " * len(marker))
            written += f"{gap if number else ''}{text}"
        return written

    def line(self, children: Inlines) -> str:
        """Words, code and emphasis; a paragraph may have several lines."""
        return "".join(map(self._inline, children))

    def _inline(self, child: Text | Code | LineBreak | Emphasis) -> str:
        match child:
            case Text() if self._cautious:
                return MARKDOWN.sub(r"\\\g<0>", child.text)
            case Text():
                return child.marked.replace(ESCAPE, "\\")
            case Code():
                return code_span(child.text)
            case LineBreak():
                return "  \n" if child.hard else "\n"
            case Emphasis():
                return f"{child.mark}{self.line(child.children)}{child.mark}"

    def table(self, table: Table) -> str:
        """One row a line, the first above the rule."""
        head, *rows = table.rows
        rule = "".join(f"|{RULES[name]}" for name in table.alignments)
        return "\n".join([self._row(head), f"{rule}|", *map(self._row, rows)])

    def _row(self, cells: Iterable[Inlines]) -> str:
        return "".join(f"| {escape_pipes(self.line(cell))} " for cell in cells) + "|"


def with_other_mark(items: ItemList, before: ItemList) -> ItemList:
    """Two lists, one right behind the other, with marks that keep them two."""
    same = items.mark == before.mark and (items.start is None) == (before.start is None)
    return replace(items, mark=OTHER_BULLET.get(items.mark, "-")) if same else items


def prefix_lines(text: str, first: str, other: str) -> str:
    """Lines within a quote or an item."""
    head, *rest = text.split("\n")
    lines = [f"{first}{head}", *(f"{other}{line}" if line else other.rstrip() for line in rest)]
    return "\n".join(lines)


def write_fence(block: Fence) -> str:
    inside = (len(run) + 1 for run in BACKTICKS.findall(block.code) if len(run) > 2)
    ticks = "`" * max([block.ticks, *inside])
    code = f"{block.code}\n" if block.code else ""
    return f"{ticks}{block.info}\n{code}{ticks}"


def code_span(text: str) -> str:
    ticks = "`" * (max((len(run) for run in BACKTICKS.findall(text)), default=0) + 1)
    if len(ticks) > 1 and "`" not in text:
        ticks = "`"
    is_padded = text[0] == "`" or text[-1] == "`" or (text[0] == text[-1] == " ")
    return f"{ticks} {text} {ticks}" if is_padded else f"{ticks}{text}{ticks}"


def escape_pipes(line: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", line)
