"""The tree of what may be shown → Slack's two forms of it, and titles: nothing in them is live."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adapters.chat_writing import ZERO_WIDTH_SPACE, ChatWriter, write_fence
from adapters.excerpts import one_line
from adapters.splitting import split_blocks
from rag_core.text.lines import tidy_line, with_marks
from rag_core.text.reading import read_markdown
from rag_core.text.tree import (
    ESCAPE,
    Code,
    Emphasis,
    Inline,
    Inlines,
    Table,
    Text,
    without_open_fence,
)
from rag_core.text.visible import visible
from rag_core.text.writing import MarkdownWriter, code_span

WORD = re.compile(r"[^\s<>()\[\]{}\"'“”‘’„«»,;|*`]+")
LINKED = re.compile(r"[\w-]\.[^\W\d_]{2,}|\w@[\w-]+\.|://|\bwww\.|\b(?:mailto|tel|sms):")
"""What Slack makes a link of without being told to: addresses, `evil.com`, and `main.rs`."""
EDGES = ".:!?_~-…/"
LIVE = re.compile(
    r"(?<=[\w-])\.(?=[^\W\d_]{2})|@(?=channel|here|everyone)|(?<=[\w.+-])@(?=[\w-]+\.)|:(?=//)"
    r"|\b(?:mailto|tel|sms)(?=:)|\](?=\(|:)",
    re.IGNORECASE,
)
COMMAND = re.compile(
    r"<(?=!(?:channel|here|everyone|subteam|date)|[@#][A-Z0-9]|[a-z][a-z0-9+.-]*://|mailto:|tel:)",
    re.IGNORECASE,
)
"""The first character of what Slack takes for a command, in code as well."""
SIGNS = re.compile("[<>&]")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
LINE_BEGIN = re.compile(
    r" *(?:(?=[-+*](?:\s|$)|#{1,6}(?:\s|$)|~~~|=+\s*$|(?:[-*_]\s*){3,}$|[|:-][|:\s-]*$)"
    r"|\d{1,9}(?=[.)](?:\s|$)))"
)
"""What would begin a block of Markdown, up to the sign that does it."""
MRKDWN_MARKS = {"*": "_", "**": "*", "~~": "~"}
WEB_ADDRESS = re.compile(r"https?://[^\s/?#@\\]+(?:[/?#]|\Z)", re.IGNORECASE)
"""With a host and nothing else before its path: no name of a user."""
LONGEST_ADDRESS, LONGEST_TITLE = 1_500, 150


class SlackMarkdownWriter(ChatWriter):
    """For a `markdown` block: CommonMark with tables."""

    reads_code_first = True

    def prepared(self, line: Inlines) -> Inlines:
        return with_linked_as_code(line)

    def words(self, text: Text) -> str:
        return neutralise("".join(self._signs(text.marked)))

    @staticmethod
    def _signs(marked: str) -> Iterator[str]:
        escapes = False
        for sign in marked:
            if sign == ESCAPE:
                escapes = True
                continue
            yield ENTITIES.get(sign) or (f"\\{sign}" if escapes else sign)
            escapes = False

    def is_live(self, code: str) -> bool:
        return SIGNS.search(code) is not None or neutralise(code) != code

    def code(self, text: str) -> str:
        return code_span(without_commands(text))

    def fence(self, info: str, code: str) -> str:
        return write_fence(without_commands(info), without_commands(code))

    def emphasis(self, mark: str, inside: str) -> str:
        return f"{mark}{inside}{mark}"

    def heading(self, level: int, line: Inlines) -> str:
        return f"{'#' * level} {self.line(line)}"

    def line_begin(self, line: str) -> str:
        found = LINE_BEGIN.match(line)
        return f"{found[0]}\\{line[found.end() :]}" if found else line

    def table(self, table: Table) -> str:
        return TableWriter(self).table(table)


class TableWriter(MarkdownWriter):
    """A Markdown table with its cells in another writer's words."""

    def __init__(self, cells: ChatWriter) -> None:
        super().__init__()
        self._cells = cells

    def line(self, children: Inlines) -> str:
        return self._cells.line(children)


class MrkdwnWriter(ChatWriter):
    """For `text` and sections: Slack's older marks, which nothing escapes."""

    names_languages = False

    def prepared(self, line: Inlines) -> Inlines:
        return with_linked_as_code(line)

    def words(self, text: Text) -> str:
        return escaped(text.text)

    def code(self, text: str) -> str:
        return as_code(text)

    def fence(self, info: str, code: str) -> str:
        return write_fence(escape_entities(info), escape_entities(code), language=False)

    def emphasis(self, mark: str, inside: str) -> str:
        return f"{MRKDWN_MARKS[mark]}{inside}{MRKDWN_MARKS[mark]}"

    def heading(self, level: int, line: Inlines) -> str:
        words = self.line(with_marks(line, ()))
        return f"*{words}*" if "*" not in words else words

    def bullet(self) -> str:
        return "• "


MARKDOWN, MRKDWN = SlackMarkdownWriter(), MrkdwnWriter()


def to_slack_markdown(text: str) -> str:
    """A text for a `markdown` block."""
    return MARKDOWN.write(read_markdown(text))


def growing_part(text: str, limit: int) -> str:
    """The first message of a text that still grows: code is shown when it is closed."""
    blocks = without_open_fence(read_markdown(text))
    return next(split_blocks(MARKDOWN, blocks, limit), "")


def to_mrkdwn(markdown: str) -> str:
    """A text for where no Markdown block is taken."""
    return MRKDWN.write(read_markdown(markdown))


def markdown_parts(markdown: str, limit: int) -> list[str]:
    """A long text for several `markdown` blocks."""
    return list(split_blocks(MARKDOWN, read_markdown(markdown), limit))


def mrkdwn_parts(markdown: str, limit: int) -> list[str]:
    """The same for sections and for `text`."""
    return list(split_blocks(MRKDWN, read_markdown(markdown), limit))


def fallback(markdown: str, limit: int) -> str:
    """The text beside a `markdown` block, for notifications and screen readers."""
    return next(split_blocks(MRKDWN, read_markdown(markdown), limit), "")


def with_linked_as_code(line: Inlines) -> Inlines:
    """What Slack would make a link of stands as code: so nobody is led away, and it can be copied
    as it is."""
    if not any(LINKED.search(text) for text in texts_in(line)):
        return line
    return tidy_line(piece for child in line for piece in _without_linked(child))


def texts_in(line: Inlines) -> Iterator[str]:
    for child in line:
        if isinstance(child, Text):
            yield child.text
        elif isinstance(child, Emphasis):
            yield from texts_in(child.children)


def _without_linked(child: Inline) -> Iterator[Inline]:
    if isinstance(child, Emphasis):
        yield Emphasis(child.mark, tidy_line(_each_without_linked(child.children), trims=False))
    elif not isinstance(child, Text):
        yield child
    else:
        end = 0
        for found in WORD.finditer(child.marked):
            bare = found[0].replace(ESCAPE, "")
            core = bare.strip(EDGES)
            if not core or not LINKED.search(bare):
                continue
            head, _, tail = bare.partition(core)
            yield Text.of(child.marked[end : found.start()] + head)
            yield Code(core)
            yield Text.of(tail)
            end = found.end()
        yield Text.of(child.marked[end:])


def _each_without_linked(children: Inlines) -> Iterator[Inline]:
    for child in children:
        yield from _without_linked(child)


def neutralise(text: str) -> str:
    """The same words, with nothing in them that takes effect."""
    return LIVE.sub(lambda found: found[0] + ZERO_WIDTH_SPACE, text)


def without_commands(code: str) -> str:
    """In code an entity would show as such, so only what is taken for a command is broken up."""
    return COMMAND.sub(f"<{ZERO_WIDTH_SPACE}", code)


def escape_entities(text: str) -> str:
    """For mrkdwn: the three characters that Slack gives a meaning."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_code(text: str) -> str:
    """Code within a line of mrkdwn, which pairs single backticks only."""
    line = " ".join(visible(text).split("\n")) or "…"
    return f"`{escape_entities(line.replace('`', chr(39)))}`"


def escaped(text: str) -> str:
    """Words for mrkdwn, with no code mark, command or address in them."""
    return escape_entities(neutralise(visible(text).replace("`", "'")))


def link(title: str, url: str | None) -> str:
    """A title in mrkdwn, linked where there is an address of the web to lead to."""
    label = escaped(one_line(title, LONGEST_TITLE))
    return f"<{_address(url)}|{label}>" if url and leads_out(url) else label


def plain_link(title: str, url: str | None) -> str:
    """A title, and its address to be read."""
    label = escaped(one_line(title, LONGEST_TITLE))
    return f"{label} — <{_address(url)}>" if url and leads_out(url) else label


def leads_out(url: str) -> bool:
    return WEB_ADDRESS.match(url) is not None and len(url) <= LONGEST_ADDRESS


def _address(url: str) -> str:
    quoted = "".join(_percent(character) for character in url)
    return quoted.replace("&", "&amp;")


def _percent(character: str) -> str:
    if character in '<>|"`' or character.isspace() or not character.isprintable():
        return "".join(f"%{byte:02X}" for byte in character.encode(errors="replace"))
    return character
