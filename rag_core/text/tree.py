"""What may be shown of a Markdown text: nothing else can be written for a reader.

There is no link, no picture and no tag here: reading a text lowers them to words and code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

ESCAPE = "\x00"
"""Before a character in `Text.marked` that Markdown would give a meaning if it stood alone."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words as they are read."""

    text: str
    marked: str = field(compare=False, repr=False)
    """The same with ESCAPE before the characters that the author had escaped."""

    @classmethod
    def of(cls, marked: str) -> Text:
        return cls(marked.replace(ESCAPE, ""), marked)


@dataclass(frozen=True, slots=True)
class Code:
    """Code within a line."""

    text: str


@dataclass(frozen=True, slots=True)
class LineBreak:
    """The end of a line within a paragraph."""

    hard: bool = False


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Emphasised words; the mark is `*`, `**` or `~~`."""

    mark: str
    children: tuple[Inline, ...]


Inline = Text | Code | LineBreak | Emphasis
Inlines = tuple[Inline, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What a text is made of; `apart` when an empty line stands before it."""

    apart: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph(Block):
    """Lines of words."""

    children: Inlines


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading(Block):
    """One line above what it names; the level is 1 to 6."""

    level: int
    children: Inlines


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence(Block):
    """A block of code."""

    info: str
    """What stands behind the opening fence, the name of a language as a rule."""
    code: str
    ticks: int = field(default=3, compare=False)
    """How long the author made the fence."""
    ends: bool = field(default=True, compare=False)
    """Whether the author closed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(Block):
    """One item of a list."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemList(Block):
    """A list; `start` is the first number, or None where it has bullets."""

    start: int | None
    mark: str = field(compare=False)
    """The bullet, or what stands behind the number."""
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote(Block):
    """Quoted blocks."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Block):
    """Rows of cells below a head; one alignment a column: `left`, `right`, `center` or nothing."""

    alignments: tuple[str, ...]
    rows: tuple[tuple[Inlines, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Block):
    """A line across."""


Blocks = tuple[Block, ...]


def with_lines(blocks: Blocks, change: Callable[[Inlines], Inlines]) -> Blocks:
    """The same blocks with the words of each line changed."""
    return tuple(_with_lines(block, change) for block in blocks)


def _with_lines(block: Block, change: Callable[[Inlines], Inlines]) -> Block:
    match block:
        case Paragraph() | Heading():
            return replace(block, children=change(block.children))
        case ItemList():
            items = (replace(i, blocks=with_lines(i.blocks, change)) for i in block.items)
            return replace(block, items=tuple(items))
        case Quote():
            return replace(block, blocks=with_lines(block.blocks, change))
        case Table():
            return replace(block, rows=tuple(tuple(map(change, row)) for row in block.rows))
        case _:
            return block


def without_open_fence(blocks: Blocks) -> Blocks:
    """The blocks of a text that still grows, but for code at its end that is not closed yet."""
    match blocks[-1:]:
        case (Fence(ends=False),):
            return blocks[:-1]
        case (Quote() as quote,):
            inside = without_open_fence(quote.blocks)
            return (*blocks[:-1], *((replace(quote, blocks=inside),) if inside else ()))
        case (ItemList() as items,):
            inside = without_open_fence(items.items[-1].blocks)
            last = (replace(items.items[-1], blocks=inside),) if inside else ()
            kept = (*items.items[:-1], *last)
            return (*blocks[:-1], *((replace(items, items=kept),) if kept else ()))
        case _:
            return blocks


def code_in(blocks: Blocks) -> Iterator[str]:
    """Every piece of code, in order."""
    for block in blocks:
        match block:
            case Paragraph() | Heading():
                yield from code_within(block.children)
            case Fence():
                yield block.code
            case ItemList():
                for item in block.items:
                    yield from code_in(item.blocks)
            case Quote():
                yield from code_in(block.blocks)
            case Table():
                for row in block.rows:
                    for cell in row:
                        yield from code_within(cell)


def code_within(children: Inlines) -> Iterator[str]:
    for child in children:
        if isinstance(child, Code):
            yield child.text
        elif isinstance(child, Emphasis):
            yield from code_within(child.children)
