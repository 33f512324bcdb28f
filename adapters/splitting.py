"""Long texts → parts for several messages: the tree is cut, never the text that was written.

A part is a tree of its own, so everything in it means what it meant in the whole. It ends between
blocks where it can, else between items, rows or lines of code, else after a sentence or a word.
Nothing is left out but white space. What is left of a table repeats its head, what is left of code
its language, and what is left of a list goes on counting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from adapters.chat_writing import ChatWriter, language_of, table_as_code
from adapters.graphemes import safe_cut
from rag_core.text.tree import (
    ESCAPE,
    Block,
    Blocks,
    Code,
    Emphasis,
    Fence,
    Heading,
    Inline,
    Inlines,
    Item,
    ItemList,
    LineBreak,
    Paragraph,
    Quote,
    Table,
    Text,
)

SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]*_]{0,4}(?=\s)|[。！？]")
LINE_END = re.compile(r"\n")
SPACE = re.compile(r"\s+")
SMALLEST_SHARE = 4
"""A block that must be cut begins below others only if it fills this share of the part."""


def split_blocks(writer: ChatWriter, blocks: Blocks, limit: int) -> Iterator[str]:
    """The parts in order, as they are written: none empty, none longer than the limit."""
    splitter = _Splitter(writer, limit)
    room = Room(splitter.fits, splitter.fits, is_empty=True)
    while blocks:
        part, blocks = splitter.take(blocks, room)
        written = writer.write(part)
        if written.strip():
            yield written


@dataclass(frozen=True, slots=True)
class Room:
    """A place in the tree of a part, and what fits there."""

    beside: Callable[[Blocks], bool]
    """Whether these fit below what stands in the part already."""
    alone: Callable[[Blocks], bool]
    """Whether these would fit if nothing else stood in the part."""
    is_empty: bool
    """Whether nothing stands in the part yet, so something has to be put there."""

    def below(self, head: Blocks) -> Room:
        return Room(
            lambda blocks: self.beside((*head, *blocks)),
            self.alone,
            is_empty=self.is_empty and not head,
        )

    def inside(self, wrap: Callable[[Blocks], Block]) -> Room:
        return Room(
            lambda blocks: self.beside((wrap(blocks),)),
            lambda blocks: self.alone((wrap(blocks),)),
            is_empty=self.is_empty,
        )


class _Splitter:
    def __init__(self, writer: ChatWriter, limit: int) -> None:
        self._writer = writer
        self._limit = limit

    def fits(self, blocks: Blocks) -> bool:
        if _is_longer(blocks, 2 * self._limit):  # so that little of a long text is written at once
            return False
        return len(self._writer.write(blocks)) <= self._limit

    def take(self, blocks: Blocks, room: Room) -> tuple[Blocks, Blocks]:
        """As many blocks as there is room for, and the rest."""
        if room.beside(blocks):
            return blocks, ()
        count = _most(len(blocks), lambda count: room.beside(blocks[:count]))
        head, rest = blocks[:count], blocks[count:]
        bare = _without_last_headings(head)
        is_needed = room.is_empty and not bare
        if is_needed or not room.alone(rest[:1]):
            piece, left = self._cut(rest[0], room.below(head))
            if piece and (is_needed or _is_longer(piece, self._limit // SMALLEST_SHARE)):
                return (*head, *piece), (*left, *rest[1:])
        # A heading goes with what it heads.
        return (head, rest) if is_needed else (bare, blocks[len(bare) :])

    def _cut(self, block: Block, room: Room) -> tuple[Blocks, Blocks]:
        """As much of the beginning of a block as there is room for, and the rest."""
        match block:
            case ItemList():
                return self._cut_list(block, room)
            case Item() | Quote():
                return self._cut_inside(block, room)
            case Fence():
                return self._cut_fence(block, room)
            case Table():
                return self._cut_table(block, room)
            case Paragraph() | Heading():
                return self._cut_line(block, room)
            case _:
                return ((block,), ()) if room.is_empty else ((), (block,))

    def _cut_list(self, block: ItemList, room: Room) -> tuple[Blocks, Blocks]:
        """What is left of an item goes on as blocks of its own before the next item."""
        first, rest = self.take(block.items, room.inside(lambda items: _with_items(block, items)))
        if not first:
            return (), (block,)
        items = tuple(item for item in rest if isinstance(item, Item))
        loose = rest[: len(rest) - len(items)]
        if not items:
            return (_with_items(block, first),), loose
        start = None if block.start is None else block.start + len(first)
        following = replace(block, items=items, start=start, apart=True)
        return (_with_items(block, first),), (*loose, following)

    def _cut_inside(self, block: Item | Quote, room: Room) -> tuple[Blocks, Blocks]:
        first, rest = self.take(
            block.blocks, room.inside(lambda blocks: replace(block, blocks=blocks))
        )
        if not first:
            return (), (block,)
        goes_on = isinstance(block, Quote) and rest
        left = (replace(block, blocks=rest),) if goes_on else rest
        return (replace(block, blocks=first),), left

    def _cut_fence(self, block: Fence, room: Room) -> tuple[Blocks, Blocks]:
        lines = block.code.split("\n")
        count = _most(len(lines), lambda count: room.beside((_with_code(block, lines[:count]),)))
        if not count and room.is_empty:
            line = lines[0]
            most = _most(len(line), lambda end: room.beside((_with_code(block, [line[:end]]),)))
            cut = _last_border(line, max(most, 1), (SPACE,))
            lines[:1] = [line[:cut], line[cut:]]
            count = 1
        if not count:
            return (), (block,)
        left = replace(_with_code(block, lines[count:]), info=self._info_again(block.info))
        return (_with_code(block, lines[:count]),), (left,) if left.code.strip() else ()

    def _info_again(self, info: str) -> str:
        """A language stands at every piece of its code; what is shown as a line, once."""
        return language_of(info) if self._writer.names_languages else ""

    def _cut_table(self, block: Table, room: Room) -> tuple[Blocks, Blocks]:
        head, *rows = block.rows

        def with_rows(rows: Sequence[tuple[Inlines, ...]]) -> Table:
            return replace(block, rows=(head, *rows))

        count = _most(len(rows), lambda count: room.beside((with_rows(rows[:count]),)))
        if count:
            return (with_rows(rows[:count]),), (with_rows(rows[count:]),)
        # A row that no message holds together with the head.
        return self._cut_fence(table_as_code(block), room) if room.is_empty else ((), (block,))

    def _cut_line(self, block: Paragraph | Heading, room: Room) -> tuple[Blocks, Blocks]:
        """The words up to the last border that there is room for, and the others."""
        children = block.children
        leaves = list(_leaves(children))
        text = "".join(leaf for leaf, _ in leaves)

        def words(start: int, end: int) -> Paragraph:
            end = start + len(text[start:end].rstrip())
            return Paragraph(children=_slice(children, start, end), apart=block.apart)

        most = _most(
            len(text),
            lambda end: room.beside((words(0, end),)),
            step=self._limit // 4,
            short=self._limit // 50,
        )
        if not most and not room.is_empty:
            return (), (block,)
        most = max(most, 1)
        cut = _last_border(text, most, (LINE_END, SENTENCE_END, SPACE), list(_code_in(leaves)))
        if not room.beside((words(0, cut),)):  # a mark that the longer piece could not use
            cut = most
        following = cut + len(text[cut:]) - len(text[cut:].lstrip())
        left = words(following, len(text))
        return (words(0, cut),), (left,) if left.children else ()


def _with_items(block: ItemList, items: Blocks) -> ItemList:
    return replace(block, items=tuple(item for item in items if isinstance(item, Item)))


def _with_code(block: Fence, lines: Sequence[str]) -> Fence:
    return replace(block, code="\n".join(lines))


def _without_last_headings(blocks: Blocks) -> Blocks:
    count = len(blocks)
    while count and isinstance(blocks[count - 1], Heading):
        count -= 1
    return blocks[:count]


def _most(count: int, fits: Callable[[int], bool], *, step: int = 1, short: int = 1) -> int:
    """The largest number up to `count` that fits, found from below; one that is less than `short`
    too small will do."""
    low = 0
    while low < count and fits(min(low + step, count)):
        low = min(low + step, count)
        step *= 2
    high = min(low + step, count)
    while high - low > (short if low else 1):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _last_border(
    text: str,
    most: int,
    borders: Sequence[re.Pattern[str]],
    whole: Sequence[tuple[int, int]] = (),
) -> int:
    """Where to cut a text so that at most so much of it stands before: at the best kind of border
    in the second half of that, and not within what should stay whole."""
    whole = [(start, end) for start, end in whole if start or end <= most]
    around = next((start for start, end in whole if start < most < end), None)
    most = around or most
    for border in borders:
        ends = [found.end() for found in border.finditer(text, most // 2, most)]
        for end in reversed(ends):
            if not any(start < end < stop for start, stop in whole):
                return end
    if around:
        return around
    cut = safe_cut(text, 0, most)
    return cut - 1 or 2 if text[cut - 1] == ESCAPE else cut


def _leaves(children: Inlines) -> Iterator[tuple[str, bool]]:
    """The words of a line with their escapes, and which of them are code."""
    for child in children:
        match child:
            case Text():
                yield child.marked, False
            case Code():
                yield child.text, True
            case LineBreak():
                yield "\n", False
            case Emphasis():
                yield from _leaves(child.children)


def _code_in(leaves: Sequence[tuple[str, bool]]) -> Iterator[tuple[int, int]]:
    place = 0
    for text, is_code in leaves:
        if is_code:
            yield place, place + len(text)
        place += len(text)


def _slice(children: Inlines, start: int, end: int) -> Inlines:
    """The children from one place in the words of a line to another."""
    sliced: list[Inline] = []
    for child in children:
        size = sum(len(text) for text, _ in _leaves((child,)))
        first, last = max(start, 0), min(end, size)
        if first < last:
            sliced.append(child if (first, last) == (0, size) else _piece(child, first, last))
        start, end = start - size, end - size
        if end <= 0:
            break
    return tuple(sliced)


def _piece(child: Inline, start: int, end: int) -> Inline:
    match child:
        case Text():
            return Text.of(child.marked[start:end])
        case Code():
            return Code(child.text[start:end])
        case Emphasis():
            return Emphasis(child.mark, _slice(child.children, start, end))
        case LineBreak():
            return child


def _is_longer(blocks: Blocks, length: int) -> bool:
    """Whether there are more words than this, without counting them all."""
    for text in _texts_in(blocks):
        length -= len(text)
        if length < 0:
            return True
    return False


def _texts_in(blocks: Blocks) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph() | Heading():
                yield from (text for text, _ in _leaves(block.children))
            case Fence():
                yield block.code
            case ItemList():
                yield from _texts_in(block.items)
            case Item() | Quote():
                yield from _texts_in(block.blocks)
            case Table():
                for row in block.rows:
                    yield from (text for cell in row for text, _ in _leaves(cell))
