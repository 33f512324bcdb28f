"""A draft as its statements: what can be checked one by one, in the blocks that it stands in."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rag_core.agent.language.sentences import sentences_of, without_markers
from rag_core.agent.verification.claims import ClaimKind
from rag_core.agent.verification.markers import markers_in, normalised
from rag_core.text.reading import read_markdown
from rag_core.text.tree import (
    Block,
    Blocks,
    Fence,
    Heading,
    Inlines,
    Item,
    ItemList,
    Paragraph,
    Quote,
    Table,
    Text,
)
from rag_core.text.writing import MarkdownWriter

LEADS_ON = (":", "：")
SHORT = 2
"""Words of a sentence that says nothing by itself: `Yes.` belongs to the one behind it."""
CELL_END = "\x1f"
"""Between the cells of a row."""
WRITER = MarkdownWriter()
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A sentence, a row, a code block or a heading of a draft."""

    text: str
    """As the model wrote it, with its markers."""
    kind: ClaimKind
    cited: tuple[int, ...] = ()
    beside: tuple[int, ...] = ()
    """What is cited next in the same block, else just before."""
    context: str = ""

    @property
    def claim(self) -> str:
        if self.kind is ClaimKind.CODE:
            return self.text
        return without_markers(self.text).replace(CELL_END, " | ").strip()


@dataclass(frozen=True, slots=True)
class Node:
    """One block with its statements, or with the nodes inside it."""

    block: Block
    statements: tuple[Statement, ...] = ()
    inside: tuple[tuple[Node, ...], ...] = field(default=())

    @property
    def leads_on(self) -> bool:
        return bool(self.statements) and self.statements[-1].claim.endswith(LEADS_ON)


Nodes = tuple[Node, ...]


class DraftReader:
    """Reads a draft; `ranks` are the numbers of the passages that were handed over."""

    def __init__(self, *, ranks: Collection[int], evidence: str) -> None:
        self._ranks = ranks
        self._evidence = evidence

    def read(self, draft: str) -> Nodes:
        return self._nodes(read_markdown(draft), "")

    def _nodes(self, blocks: Blocks, context: str) -> Nodes:
        """A heading holds for all below it, a line that leads on for the next block alone."""
        nodes: list[Node] = []
        heading, lead = context, ""
        for place, block in enumerate(blocks):
            follower = blocks[place + 1] if place + 1 < len(blocks) else None
            node = self._node(block, follower, lead or heading, nodes[-1] if nodes else None)
            nodes.append(node)
            lead = ""
            if isinstance(block, Heading):
                heading = node.statements[0].claim
            elif isinstance(block, Paragraph) and node.leads_on:
                lead = node.statements[-1].claim
        return tuple(nodes)

    def _node(
        self, block: Block, follower: Block | None, context: str, before: Node | None
    ) -> Node:
        match block:
            case Paragraph():
                is_before_block = isinstance(follower, ItemList | Fence | Table)
                return Node(block, self._sentences(block.children, context, is_before_block))
            case Heading():
                return Node(block, (Statement(self._line(block.children), ClaimKind.HEADING),))
            case Fence():
                cited = before.statements[-1].cited if before and before.statements else ()
                return Node(
                    block, (Statement(block.code, ClaimKind.CODE, beside=cited, context=context),)
                )
            case Table():
                return Node(block, self._rows(block))
            case ItemList():
                inside = tuple(self._nodes(item.blocks, context) for item in block.items)
                return Node(block, inside=with_neighbours(inside))
            case Quote():
                return Node(block, inside=(self._nodes(block.blocks, context),))
            case _:
                return Node(block)

    def _line(self, children: Inlines) -> str:
        return normalised(WRITER.line(children), self._ranks, self._evidence)

    def _sentences(
        self, children: Inlines, context: str, is_before_block: bool
    ) -> tuple[Statement, ...]:
        sentences = list(joined(sentences_of(self._line(children))))
        statements = [
            Statement(sentence, ClaimKind.PROSE, markers_in(sentence), context=context)
            for sentence in sentences
        ]
        if is_before_block and statements:
            last = statements[-1]
            if not last.cited and last.claim.endswith(LEADS_ON):
                statements[-1] = replace(last, kind=ClaimKind.LEAD_IN)
        return beside_each_other(statements)

    def _rows(self, table: Table) -> tuple[Statement, ...]:
        head, *body = (CELL_END.join(map(self._line, row)) for row in table.rows)
        return (
            Statement(head, ClaimKind.LEAD_IN),
            *beside_each_other(
                [
                    Statement(
                        row, ClaimKind.ROW, markers_in(row), context=head.replace(CELL_END, " | ")
                    )
                    for row in body
                ]
            ),
        )


def joined(sentences: Sequence[str]) -> Iterator[str]:
    """Sentences, where one of a word or two goes with the next: `Yes. It does [1].`"""
    before = ""
    for sentence in sentences:
        words = len(WORD.findall(without_markers(before + sentence)))
        if words <= SHORT and not markers_in(sentence):
            before += sentence
            continue
        yield before + sentence
        before = ""
    if before:
        yield before


def beside_each_other(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Statements of one block, each with what is cited next in it, else just before."""
    return tuple(
        replace(
            statement, beside=next_cited(statements[place:]) or next_cited(statements[place::-1])
        )
        for place, statement in enumerate(statements)
    )


def next_cited(statements: Sequence[Statement]) -> tuple[int, ...]:
    return next((statement.cited for statement in statements if statement.cited), ())


def with_neighbours(items: Sequence[Nodes]) -> tuple[Nodes, ...]:
    """Items of a list, in which a marker stands for the items above it, too."""
    flat = list(statements_in(node for item in items for node in item))
    changed = {
        id(statement): replace(
            statement,
            beside=statement.beside or next_cited(flat[place:]) or next_cited(flat[place::-1]),
        )
        for place, statement in enumerate(flat)
    }
    return tuple(tuple(with_statements(node, changed) for node in item) for item in items)


def with_statements(node: Node, changed: dict[int, Statement]) -> Node:
    return replace(
        node,
        statements=tuple(changed[id(statement)] for statement in node.statements),
        inside=tuple(
            tuple(with_statements(each, changed) for each in nodes) for nodes in node.inside
        ),
    )


def statements_in(nodes: Sequence[Node] | Iterator[Node]) -> Iterator[Statement]:
    for node in nodes:
        yield from node.statements
        for inside in node.inside:
            yield from statements_in(inside)


def pruned(nodes: Nodes, stands: Callable[[Statement], bool]) -> Nodes:
    """The blocks of which something stands. Code and tables stand or fall as a whole, and so does
    a block with the line that leads to it; a heading goes with what stood below it."""
    kept: list[Node] = []
    is_led = True
    for place, node in enumerate(nodes):
        follows_lead = place > 0 and nodes[place - 1].leads_on
        rest = None if follows_lead and is_block(node) and not is_led else standing(node, stands)
        if rest is None and follows_lead and is_block(node) and is_led and kept:
            kept[-1:] = without_lead(kept[-1])
        is_led = not node.leads_on or (rest is not None and rest.leads_on)
        if rest is not None:
            kept.append(rest)
    return tuple(without_bare_headings(kept))


def is_block(node: Node) -> bool:
    return isinstance(node.block, ItemList | Fence | Table)


def standing(node: Node, stands: Callable[[Statement], bool]) -> Node | None:
    match node.block:
        case Paragraph() | Heading():
            kept = tuple(statement for statement in node.statements if stands(statement))
            return replace(node, statements=kept) if kept else None
        case Fence() | Table():
            return node if all(map(stands, node.statements)) else None
        case ItemList() | Quote():
            inside = tuple(nodes for nodes in (pruned(each, stands) for each in node.inside))
            return replace(node, inside=inside) if any(inside) else None
        case _:
            return node


def without_lead(node: Node) -> list[Node]:
    rest = node.statements[:-1]
    return [replace(node, statements=rest)] if rest else []


def without_bare_headings(nodes: Sequence[Node]) -> list[Node]:
    """Without headings and lines across that nothing follows."""
    kept: list[Node] = []
    for node in reversed(nodes):
        is_text = bool(node.statements or node.inside) and not isinstance(node.block, Heading)
        if isinstance(node.block, Heading):
            below = kept[-1].block if kept else None
            if below is None or (isinstance(below, Heading) and below.level <= node.block.level):
                continue
        elif not is_text and not kept:
            continue
        kept.append(node)
    kept.reverse()
    while kept and not (kept[0].statements or kept[0].inside):
        kept.pop(0)
    return kept


def written(nodes: Nodes, write: Callable[[Statement], str]) -> str:
    """What is left of a draft as Markdown; `write` gives each statement its final words."""
    return WRITER.write(blocks_of(nodes, write))


def blocks_of(nodes: Nodes, write: Callable[[Statement], str]) -> Blocks:
    return tuple(block_of(node, write) for node in nodes)


def block_of(node: Node, write: Callable[[Statement], str]) -> Block:
    match node.block:
        case Paragraph() | Heading() as block:
            line = "".join(map(write, node.statements)).strip()
            return replace(block, children=(Text.of(line),))
        case Table() as table:
            rows = tuple(
                tuple(Text.of(cell.strip()) for cell in write(row).split(CELL_END))
                for row in node.statements
            )
            return replace(table, rows=tuple(tuple((cell,) for cell in row) for row in rows))
        case ItemList() as items:
            kept = tuple(
                Item(blocks=blocks_of(nodes, write), apart=item.apart)
                for item, nodes in zip(items.items, node.inside, strict=True)
                if nodes
            )
            return replace(items, items=kept)
        case Quote() as quote:
            return replace(quote, blocks=blocks_of(node.inside[0], write))
        case _:
            return node.block
