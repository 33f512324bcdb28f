"""Reads Markdown into the tree of what may be shown; links, pictures and tags become words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from rag_core.text.lines import on_one_line, tidy_line
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
    Rule,
    Table,
    Text,
)
from rag_core.text.visible import visible

MOST_NESTED = 10
MARKS = {"em": "*", "strong": "**", "s": "~~"}
NUMBER = re.compile(r"\^?\d+")
INFO = re.compile(r" ?[\w+#.,{}=\"' /-]{0,80}")
"""The name of a language, and what some generators write behind it: nothing that could be live."""
PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
ALIGNMENT = re.compile(r"text-align:(left|center|right)")
TAG = re.compile(r"</?([a-z][a-z0-9-]*)([^>]*?)/?>", re.IGNORECASE)
ELEMENTS = re.compile(
    r"a|abbr|acronym|address|area|article|aside|audio|b|base|bdi|bdo|big|"
    r"blockquote|body|br|button|canvas|caption|center|cite|code|col|colgroup|"
    r"data|datalist|dd|del|details|dfn|dialog|dir|div|dl|dt|em|embed|"
    r"fieldset|figcaption|figure|font|footer|form|frame|frameset|h1|h2|h3|h4|"
    r"h5|h6|head|header|hgroup|hr|html|i|iframe|img|input|ins|kbd|label|"
    r"legend|li|link|main|map|mark|marquee|math|menu|meta|meter|nav|noscript|"
    r"object|ol|optgroup|option|output|p|param|picture|portal|pre|progress|q|"
    r"rp|rt|ruby|s|samp|script|search|section|select|slot|small|source|span|"
    r"strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|"
    r"tfoot|th|thead|time|title|tr|track|tt|u|ul|var|video|wbr"
)
ACTIVE = re.compile(
    r"a|area|audio|base|button|details|embed|form|frame|frameset|iframe|img|"
    r"input|link|map|meta|object|picture|script|source|style|svg|template|video"
)
WEB = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
CONTAINERS = frozenset(
    {"bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open"}
)


def _without_numbered_references(state: StateCore) -> None:
    """`[1]` is a footnote, never the label of a link."""
    references = state.env.get("references", {})
    for label in [label for label in references if NUMBER.fullmatch(label)]:
        del references[label]


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    reader.validateLink = lambda url: True  # type: ignore[method-assign]  # none becomes a link
    # Tags are found within lines only: a block of HTML would hide the Markdown that it holds.
    reader.disable(["html_block", "text_join"])
    reader.core.ruler.after("block", "numbered_references", _without_numbered_references)
    return reader


READER = _reader()
READ_TEXTS = 64
"""What is guarded is read again at once, to be sure of it and to be shown."""


@lru_cache(maxsize=READ_TEXTS)
def read_markdown(text: str) -> Blocks:
    """The blocks of a text; empty ones are left out."""
    return _blocks_of(READER.parse(visible(text)))


def _blocks_of(tokens: Sequence[Token]) -> Blocks:
    blocks: list[Block] = []
    place, end = 0, 0
    while place < len(tokens):
        after = _closing(tokens, place) + 1
        block = _block(tokens[place:after], apart=_line(tokens[place]) > end)
        if block is not None:
            blocks.append(block)
        end = max(end, _last_line(tokens[place:after]))
        place = after
    return tuple(blocks)


def _line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _closing(tokens: Sequence[Token], place: int) -> int:
    """Where what is opened at a place is closed."""
    depth = 0
    for number in range(place, len(tokens)):
        depth += tokens[number].nesting
        if depth == 0:
            return number
    return len(tokens) - 1


def _block(tokens: Sequence[Token], *, apart: bool) -> Block | None:
    first, inside = tokens[0], tokens[1:-1]
    match first.type:
        case "paragraph_open":
            children = _inlines(inside)
            return Paragraph(children=children, apart=apart) if children else None
        case "heading_open":
            line = on_one_line(_inlines(inside))
            level = int(first.tag[1])
            return Heading(level=level, children=line, apart=apart) if line else None
        case "fence" | "code_block":
            return _fence(first, apart=apart)
        case "bullet_list_open" | "ordered_list_open":
            return _item_list(first, inside, apart=apart)
        case "blockquote_open":
            blocks = _blocks_of(inside)
            return Quote(blocks=blocks, apart=apart) if blocks else None
        case "table_open":
            return _table(inside, apart=apart)
        case "hr":
            return Rule(apart=apart)
        case _:
            return None


def _fence(token: Token, *, apart: bool) -> Fence:
    code = token.content.removesuffix("\n")
    info = token.info.rstrip()
    if not INFO.fullmatch(info):
        name = info.split()[0]
        info = name if INFO.fullmatch(name) else ""
    lines = (token.map[1] - token.map[0]) if token.map else 0
    ends = token.type == "code_block" or lines > token.content.count("\n") + 1
    ticks = len(token.markup) if token.markup.startswith("`") else 3
    return Fence(info=info, code=code, ticks=ticks, ends=ends, apart=apart)


def _item_list(token: Token, inside: Sequence[Token], *, apart: bool) -> ItemList | None:
    items: list[Item] = []
    place = end = 0
    while place < len(inside):
        after = _closing(inside, place) + 1
        if blocks := _blocks_of(inside[place + 1 : after - 1]):
            items.append(Item(blocks=blocks, apart=bool(items) and _line(inside[place]) > end))
        end = max(end, _last_line(inside[place:after]))
        place = after
    start = int(token.attrs.get("start", 1)) if token.type == "ordered_list_open" else None
    if not items:
        return None
    return ItemList(start=start, mark=token.markup, items=tuple(items), apart=apart)


def _last_line(tokens: Sequence[Token]) -> int:
    """The line after the last one that holds something: lists take empty lines behind them."""
    ends = [token.map[1] for token in tokens if token.map and token.type not in CONTAINERS]
    return max(ends, default=0)


def _table(tokens: Sequence[Token], *, apart: bool) -> Table:
    rows: list[tuple[Inlines, ...]] = []
    cells: list[Inlines] = []
    alignments: list[str] = []
    for token in tokens:
        match token.type:
            case "tr_open":
                cells = []
            case "tr_close":
                rows.append(tuple(cells))
            case "th_open":
                found = ALIGNMENT.match(str(token.attrs.get("style", "")))
                alignments.append(found[1] if found else "")
            case "inline":
                cells.append(on_one_line(_inlines([token])))
    return Table(alignments=tuple(alignments), rows=tuple(rows), apart=apart)


def _inlines(tokens: Sequence[Token]) -> Inlines:
    children = list(_shallow(child for token in tokens for child in token.children or ()))
    return tidy_line(_lowered(children, 0, len(children)))


def _shallow(tokens: Iterable[Token]) -> Iterator[Token]:
    """The pieces without emphasis in emphasis, deeper than anybody means it."""
    depth = 0
    for token in tokens:
        depth += max(token.nesting, 0)
        if token.nesting == 0 or depth <= MOST_NESTED:
            yield token
        depth += min(token.nesting, 0)


def _lowered(tokens: Sequence[Token], place: int, end: int) -> Iterator[Inline]:
    """The pieces of a line, in the words of the tree."""
    while place < end:
        token = tokens[place]
        if token.nesting == 1:
            after = _closing(tokens, place)
            inside = tidy_line(_lowered(tokens, place + 1, after), trims=False)
            if token.type == "link_open":
                yield from _link(token, inside)
            elif inside:
                yield Emphasis(MARKS[token.tag], inside)
            place = after + 1
            continue
        yield from _piece(token)
        place += 1


def _piece(token: Token) -> Iterator[Inline]:
    match token.type:
        case "text":
            yield Text.of(token.content)
        case "text_special":
            yield Text.of(_special(token.content))
        case "code_inline":
            # Code without anything to see would be marks alone.
            yield Code(token.content) if token.content.strip() else Text.of(" ")
        case "softbreak" | "hardbreak":
            yield LineBreak(hard=token.type == "hardbreak")
        case "html_inline":
            yield from _tag(" ".join(token.content.split("\n")))


def _special(text: str) -> str:
    """What was escaped, or an entity: as a character that Markdown gives no meaning."""
    shown = " ".join(visible(text).split("\n"))
    return f"{ESCAPE}{shown}" if shown in PUNCTUATION else shown


def _tag(source: str) -> Iterator[Inline]:
    """Tags of HTML and comments are left out, and what only looks like one is text: `Vec<T>`."""
    found = TAG.fullmatch(source)
    if found is None:
        if not source.startswith("<!--"):
            yield Text.of(f"{ESCAPE}{source}")
        return
    name, attributes = found[1].lower(), found[2].strip()
    if name == "br":
        yield LineBreak()
        return
    is_element = ELEMENTS.fullmatch(name) is not None
    if ACTIVE.fullmatch(name) or (is_element and (not attributes or "=" in attributes)):
        return
    if is_element or attributes:
        yield Text.of(f"{ESCAPE}{source}")
    else:
        yield Text.of(source)


def _link(token: Token, inside: Inlines) -> Iterator[Inline]:
    """A link's words, and its address where that is one of the world outside."""
    target = str(token.attrs.get("href", ""))
    words = "".join(_words(inside)).strip()
    address, _, label = words.partition("|")
    if token.info == "auto" and address.strip() and label:  # as Slack writes links
        yield from (Text.of(f"{label} ("), Code(address.replace("`", "'")), Text.of(")"))
    elif not WEB.match(target) or target in words or token.info == "auto":
        yield from inside
    elif not words:
        yield Code(visible(target).replace("`", "'"))
    else:
        yield from inside
        yield from (Text.of(" ("), Code(visible(target).replace("`", "'")), Text.of(")"))


def _words(children: Inlines) -> Iterator[str]:
    for child in children:
        if isinstance(child, Text | Code):
            yield child.text
        elif isinstance(child, Emphasis):
            yield from _words(child.children)
