"""Writes the tree of what may be shown in the form of a chat platform.

Chat clients do not read code as CommonMark does: what is cut at the end of a quote or an item, or
closed by the first backticks that come, would show the rest of it as words. So blocks of code stand
at the beginning of a line and outside of everything else, and each platform says how its words,
code and emphasis are written."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from rag_core.text.lines import with_marks
from rag_core.text.tree import (
    Block,
    Blocks,
    Code,
    Emphasis,
    Fence,
    Heading,
    Inline,
    Inlines,
    ItemList,
    LineBreak,
    Paragraph,
    Quote,
    Table,
    Text,
    code_in,
    with_lines,
)
from rag_core.text.writing import code_span

ZERO_WIDTH_SPACE = "\u200b"
FENCE = "```"
LONG_RUN = re.compile("`{3,}")
LANGUAGE = re.compile(r"\s*([\w+\-.#]{1,30})")
MARKS = ("*", "**", "~~")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines that stand together, and what they stand in."""

    text: str
    apart: bool
    inside: str = ""
    """`list`, `quote`, `code`, or nothing."""


class ChatWriter(ABC):
    """One platform's form of a text."""

    reads_code_first = False
    """Whether marks of emphasis within code mean nothing to the platform's clients."""
    names_languages = True
    """Whether a block of code can name its language elsewhere than in its first line."""

    def write(self, blocks: Blocks) -> str:
        code = [] if self.reads_code_first else list(code_in(blocks))
        # A mark in code may end an emphasis that began before the code, and the code with it.
        marks = [mark for mark in MARKS if not any(mark in piece for piece in code)]
        blocks = with_lines(blocks, lambda line: self.prepared(with_marks(line, marks)))
        if any(map(self.is_live, code_in(blocks))):
            blocks = with_lines(blocks, without_ticks)
        return "".join(_joined(self._chunks(blocks, lead="", indent="", inside="")))

    def prepared(self, line: Inlines) -> Inlines:
        """What a platform shows in another form than words."""
        return line

    def is_live(self, code: str) -> bool:
        """Whether code would be live if it were read as words, on a platform of which nobody knows
        how it pairs several backticks."""
        return False

    @abstractmethod
    def words(self, text: Text) -> str:
        """Words that are nothing but words."""

    @abstractmethod
    def code(self, text: str) -> str:
        """Code within a line."""

    @abstractmethod
    def fence(self, info: str, code: str) -> str:
        """A block of code."""

    @abstractmethod
    def emphasis(self, mark: str, inside: str) -> str: ...

    @abstractmethod
    def heading(self, level: int, line: Inlines) -> str: ...

    def bullet(self) -> str:
        return "- "

    def line_begin(self, line: str) -> str:
        """A line of words that begins nothing else: no heading, no list."""
        return line

    def table(self, table: Table) -> str:
        return self.fence("", table_as_code(table).code)

    def line(self, children: Inlines) -> str:
        return "".join(map(self._inline, children))

    def _inline(self, child: Text | Code | LineBreak | Emphasis) -> str:
        match child:
            case Text():
                return self.words(child)
            case Code():
                return self.code(child.text)
            case LineBreak():
                return "\n"
            case Emphasis():
                return self.emphasis(child.mark, self.line(child.children))

    def _chunks(self, blocks: Blocks, *, lead: str, indent: str, inside: str) -> Iterator[Chunk]:
        for block in blocks:
            match block:
                case Fence():
                    yield Chunk(self.fence(block.info, block.code), block.apart, "code")
                case Table():
                    yield Chunk(self.table(block), True, "code")
                case ItemList():
                    yield from self._items(block, lead=lead, indent=indent, inside=inside)
                case Quote():
                    yield from self._chunks(block.blocks, lead=lead, indent=indent, inside="quote")
                case _:
                    yield self._lines(block, lead=lead, indent=indent, inside=inside)
            lead = indent

    def _lines(self, block: Block, *, lead: str, indent: str, inside: str) -> Chunk:
        quote = "> " if inside == "quote" else ""
        match block:
            case Paragraph():
                first, *rest = map(self.line_begin, self.line(block.children).split("\n"))
            case Heading():
                first, rest = self.heading(block.level, block.children), []
            case _:
                return Chunk(f"{quote}---", True, inside)
        lines = [f"{quote}{lead}{first}", *(f"{quote}{indent}{line}" for line in rest)]
        return Chunk("\n".join(lines), block.apart, inside)

    def _items(self, items: ItemList, *, lead: str, indent: str, inside: str) -> Iterator[Chunk]:
        for number, item in enumerate(items.items):
            marker = self.bullet() if items.start is None else f"{items.start + number}. "
            chunks = self._chunks(
                item.blocks,
                lead=(indent if number else lead) + marker,
                indent=indent + " " * len(marker),
                inside=inside or "list",
            )
            for place, chunk in enumerate(chunks):
                apart = chunk.apart if place else (item.apart if number else items.apart)
                yield replace(chunk, apart=apart)


def _joined(chunks: Iterator[Chunk]) -> Iterator[str]:
    before: Chunk | None = None
    for chunk in chunks:
        if before is not None:
            # A list or a quote would go on with what stands right below it.
            leaves = before.inside != chunk.inside and before.inside in {"list", "quote"}
            yield "\n\n" if chunk.apart or leaves else "\n"
        yield chunk.text
        before = chunk


def without_ticks(line: Inlines) -> Inlines:
    """Code with other quotes in the place of backticks."""
    return tuple(map(_without_ticks, line))


def _without_ticks(child: Inline) -> Inline:
    match child:
        case Code():
            return Code(child.text.replace("`", "'"))
        case Emphasis():
            return Emphasis(child.mark, without_ticks(child.children))
        case _:
            return child


def table_as_code(table: Table) -> Fence:
    """Where no tables are shown, in a block of code their columns keep their places."""
    head, *rows = map(_row, table.rows)
    rule = "|---" * len(table.alignments) + "|"
    return Fence(info="", code="\n".join([head, rule, *rows]), apart=table.apart)


def _row(cells: Collection[Inlines]) -> str:
    return "".join(f"| {''.join(map(_raw, cell))} " for cell in cells) + "|"


def _raw(child: Text | Code | LineBreak | Emphasis) -> str:
    match child:
        case Text():
            return child.text
        case Code():
            return code_span(child.text)
        case Emphasis():
            return "".join(map(_raw, child.children))
        case _:
            return " "


def language_of(info: str) -> str:
    """The name of a language, where one stands behind a fence."""
    found = LANGUAGE.fullmatch(info)
    return found[1] if found else ""


def write_fence(info: str, code: str, *, language: bool = True) -> str:
    """Code that ends with its last line: runs of backticks in it are broken up. What is no name of
    a language comes first in the block."""
    name = language_of(info) if language else ""
    head = "" if name or not info.strip() else f"{info.strip()}\n"
    inside = LONG_RUN.sub(lambda run: ZERO_WIDTH_SPACE.join(run[0]), head + code)
    if not inside.strip("` \t\n"):  # a block of nothing else would take what follows for its code
        inside = ZERO_WIDTH_SPACE + inside
    return f"{FENCE}{name}\n{inside}\n{FENCE}"
