"""A passage of the evidence in pieces that can be quoted: sentences, lists, tables, code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag_core.agent.language.blocks import Block, BlockKind, blocks_of
from rag_core.agent.language.sentences import sentences_of
from rag_core.agent.language.words import content

MAX_CODE_LINES = 40
"""A longer block of code is no answer but a listing."""
LEAST_WORDS = 2
MARKUP = re.compile(r"^\s*(?:import\s|export\s|</?[A-Za-z!]|\{\{|\{\*|:::|---|\*\*\*|===|!\[|\[!)")
CHECKLIST = re.compile(r"[✓✔☐☑✅]|\[[ xX]\]")
QUOTED_LINE = re.compile(r"^\s*(?:>\s?)+")
COMMAND = re.compile(r"`\$? ?[a-z][\w./-]* [^`]+`")
SHELL = re.compile(
    r"\s*(?:```|~~~)\s*(?:bash|sh|zsh|fish|shell|console|terminal|powershell|cmd|bat|\$[^\n]*)?\s*$",
    re.MULTILINE | re.IGNORECASE,
)
OPTION = re.compile(
    r"\s*\d{1,3}[.)]\s+[*_]*(?:the|an?|this|that|it|there|you|your|we|our|its|their)\b",
    re.IGNORECASE,
)
"""How a numbered item begins that names a thing; a step says what to do."""
BOLD_LINE = re.compile(r"\s*(?P<marks>\*\*|__)(?P<heading>[^*_]{3,80}?)(?P=marks)\s*$")
"""What is drawn as a heading, but is written as a paragraph of its own."""
MENU = re.compile(r"\s(?:[|•·»›>])\s")
MENU_SIGNS = 3
"""A sentence with so many of them is what leads around a page, not what the page says."""
LEANING = re.compile(
    r"\W*(?:it|its|they|them|their|this|these|those|that|such|he|she|his|her|both|neither|either"
    r"|however|therefore|thus|hence|but|also|otherwise|instead|so|then|similarly|likewise"
    r"|for example|for instance|in addition|as a result|the (?:former|latter|other|same|second))\b",
    re.IGNORECASE,
)
"""How a sentence begins that goes on from the one before it."""
RULE_ROW = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedPassage:
    """A passage of the evidence, as the tool handed it over."""

    rank: int
    text: str
    title: str
    heading: str
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What is quoted as a whole: a sentence, or code, a list or a table with its lead-in."""

    passage: QuotedPassage
    place: int
    kind: BlockKind
    section: str
    parts: tuple[str, ...]
    """A sentence; or the lines of a list; or a table's head and its rows; or one code block."""
    lead: str = ""
    opens_section: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether this stands on lines of its own."""
        return self.kind is not BlockKind.PARAGRAPH

    @property
    def lines(self) -> tuple[str, ...]:
        """The rows of a table without its head, or the items of a list."""
        return self.parts[1:] if self.kind is BlockKind.TABLE else self.parts

    @property
    def has_command(self) -> bool:
        """Whether this names something to type."""
        if self.kind is not BlockKind.CODE:
            return COMMAND.search(self.text) is not None
        return SHELL.match(self.parts[0]) is not None

    @property
    def headings(self) -> str:
        return f"{self.section} {self.passage.title}"

    @property
    def text(self) -> str:
        return "\n".join((self.lead, *self.parts))

    @property
    def is_steps(self) -> bool:
        """Whether this says what to do, in order."""
        if self.kind is BlockKind.CODE:
            return True
        if self.kind is not BlockKind.ITEM or not re.match(r"\s*\d", self.parts[0]):
            return False
        return 2 * sum(map(bool, map(OPTION.match, self.parts))) < len(self.parts)


def units_of(passage: QuotedPassage) -> list[Unit]:
    """The passage in pieces, in order."""
    units: list[Unit] = []
    section, opens = passage.heading, True
    for lead, block in with_leads(blocks_of(passage.text)):
        if heading := heading_in(block):
            section, opens = heading, True
            continue
        is_reply = opens and is_asked(section)
        for parts in pieces_of(block, least=1 if is_reply else LEAST_WORDS):
            unit = Unit(
                passage=passage,
                place=len(units),
                kind=block.kind,
                section=section,
                parts=parts,
                lead=lead,
                opens_section=opens,
            )
            units.append(unit)
            opens = False
    return units


def is_asked(line: str) -> bool:
    return line.rstrip("*_ |").endswith("?")


def heading_in(block: Block) -> str:
    """The heading that a block is, also one that is only drawn as such; empty: it is none."""
    if block.kind is BlockKind.HEADING:
        return block.text.strip("# \n")
    bold = BOLD_LINE.match(block.text) if block.kind is BlockKind.PARAGRAPH else None
    return bold["heading"] if bold and not bold["heading"].endswith((".", "!", ":")) else ""


def with_leads(blocks: Iterable[Block]) -> Iterator[tuple[str, Block]]:
    """Every block with the sentence that leads to it: one before a list or code, with a colon."""
    held: Block | None = None
    for block in together(blocks):
        if block.kind is BlockKind.PARAGRAPH:
            if held is not None:
                yield "", held
            held = block
            continue
        lead = ""
        if held is not None:
            lead, rest = split_lead(held) if block.kind is not BlockKind.HEADING else ("", held)
            if rest.text.strip():
                yield "", rest
            held = None
        yield lead, block
    if held is not None:
        yield "", held


def split_lead(paragraph: Block) -> tuple[str, Block]:
    """The last sentence of a paragraph where it ends with a colon, and what stands before."""
    *before, last = sentences_of(plain(paragraph.text)) or ("",)
    if not last.rstrip("*_ \n").endswith(":"):
        return "", paragraph
    return last.strip(), Block(paragraph.kind, "".join(before))


def together(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks without the blank ones; the items of one list are one block."""
    held: Block | None = None
    for block in blocks:
        if block.kind is BlockKind.BLANK:
            continue
        if held is not None and is_of_list(held, block):
            held = Block(held.kind, held.text.rstrip("\n") + "\n" + block.text.rstrip("\n"))
            continue
        if held is not None:
            yield held
        held = block
    if held is not None:
        yield held


def is_of_list(held: Block, block: Block) -> bool:
    """Whether a block goes on with the list before it: an item, or code that is part of one."""
    if held.kind is not BlockKind.ITEM:
        return False
    is_inside = block.kind is BlockKind.CODE and block.text.startswith(("  ", "\t"))
    return block.kind is BlockKind.ITEM or is_inside


def pieces_of(block: Block, *, least: int = LEAST_WORDS) -> Iterator[tuple[str, ...]]:
    """What is quoted whole; of prose the sentences that say something, or reply to a heading."""
    if CHECKLIST.search(block.text) and block.kind is not BlockKind.CODE:
        return
    if block.kind is BlockKind.CODE:
        if block.text.count("\n") <= MAX_CODE_LINES:
            yield (block.text.strip("\n"),)
    elif block.kind is BlockKind.TABLE:
        yield from table_parts(block.text.splitlines())
    elif block.kind is BlockKind.ITEM:
        yield tuple(item_lines(block.text.splitlines()))
    else:
        for sentence in sentences_of(plain(block.text)):
            if len(content(sentence)) >= least and len(MENU.findall(sentence)) < MENU_SIGNS:
                yield (sentence.strip(),)


def table_parts(rows: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """A table as its head (two lines) and its rows; without a head it is no table."""
    if len(rows) > 2 and RULE_ROW.match(rows[1]):
        yield ("\n".join(rows[:2]), *rows[2:])


def item_lines(lines: Sequence[str]) -> list[str]:
    """One entry an item; lines that go on belong to the item before."""
    items: list[str] = []
    for line in lines:
        if items and not re.match(r"\s*(?:[-*+•]|\d{1,3}[.)])\s", line):
            items[-1] += "\n" + line
        else:
            items.append(line)
    return items


def plain(paragraph: str) -> str:
    """A paragraph in one line, without marks of quotation and lines that are no prose."""
    lines = (QUOTED_LINE.sub("", line) for line in paragraph.splitlines())
    return " ".join(line.strip() for line in lines if line.strip() and not MARKUP.match(line))
