"""The words of a line in one form: what stands side by side as one, addresses as code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator

from rag_core.text.tree import ESCAPE, Code, Emphasis, Inline, Inlines, LineBreak, Text
from rag_core.text.visible import LONE_JOINER

ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,20}://|(?<![a-z0-9])(?:www\.|mailto:|javascript:|data:|tel:|sms:))"
    r"[^\s<>`\"'“”‘’|\\^{}\[\]]*[^\s<>`\"'“”‘’|\\^{}\[\].,;:!?)*_]"
    r"|(?<![\w/@.:-])(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app|gg|co|info|biz|xyz|me|ru|cn|tk|top"
    r"|site|online|link|click)/[^\s<>`\"'|\\^{}\[\]]*[^\s<>`\"'|\\^{}\[\].,;:!?)*_]",
    re.IGNORECASE,
)
"""An address among words is shown as code: so it can be copied, and nothing makes it a link."""
SLACK_LINK = re.compile(r"<(https?://[^\s<>|`\x00]+)\|([^<>|`\n\x00]+)>", re.IGNORECASE)
PLAIN_WORDS = re.compile(r"[\w\s,.;:?!'\"()’“”–—/+=-]*", re.ASCII)
"""Most words: no need to look closer."""
PLAIN = str.maketrans({"＠": "@", "﹫": "@", "＜": "<", "＞": ">", "﹤": "<", "﹥": ">", "`": "'"})
"""Wide forms of the signs that mentions are made of, and stray code marks, which not all clients
pair alike."""
CALL = re.compile(
    r"@(?=(?:everyone|here|channel|group\b))|<(?=\x00?[@#!/:]|(?:t|id|sound|a):)", re.IGNORECASE
)
"""The first sign of what chat clients read as a mention; the guarded answer has none of them,
whoever shows it."""


def tidy_line(pieces: Iterable[Inline], *, trims: bool = True) -> Inlines:
    """Pieces in order; `trims` leaves out white space at both ends, as a paragraph does."""
    joined = _joined(pieces)
    for place, piece in enumerate(joined):
        if isinstance(piece, Text):
            begins = place > 0 and not isinstance(joined[place - 1], LineBreak)
            ends = place + 1 < len(joined) and not isinstance(joined[place + 1], LineBreak)
            marked = piece.marked if begins or not (trims or place) else piece.marked.lstrip(" \t")
            last = place + 1 == len(joined)
            marked = marked if ends or not (trims or not last) else marked.rstrip(" \t")
            joined[place] = Text.of(marked)
    return tuple(_without_empty_lines(joined, trims=trims))


def _joined(pieces: Iterable[Inline]) -> list[Inline]:
    joined: list[Inline] = []
    run = ""
    for piece in pieces:
        if isinstance(piece, Text):
            run += piece.marked
            continue
        joined += _with_addresses_as_code(_plain(run))
        run = ""
        if isinstance(piece, Code) and joined and isinstance(joined[-1], Code):
            joined.append(Text.of(" "))  # code that touches would be read as something else
        joined.append(piece)
    rest = list(_with_addresses_as_code(_plain(run)))
    if rest and isinstance(rest[0], Code) and joined and isinstance(joined[-1], Code):
        joined.append(Text.of(" "))
    return joined + rest


def _without_empty_lines(pieces: Iterable[Inline], *, trims: bool) -> Iterator[Inline]:
    """A line end only between two lines with something on them."""
    line_end: LineBreak | None = None
    has_begun = not trims
    for piece in pieces:
        if isinstance(piece, Text) and not piece.text:
            continue
        if isinstance(piece, LineBreak):
            line_end = line_end or piece
            continue
        if line_end is not None and has_begun:
            yield line_end
        line_end, has_begun = None, True
        yield piece
    if line_end is not None and not trims:
        yield line_end


def _plain(marked: str) -> str:
    """Words in which nothing begins code, a link or a mention."""
    if PLAIN_WORDS.fullmatch(marked):
        return marked
    # An entity may have put characters beside each other that hide something only there.
    marked = LONE_JOINER.sub("", unicodedata.normalize("NFC", marked))
    marked = marked.replace(f"{ESCAPE}`", "'").translate(PLAIN).replace("](", "] (")
    return CALL.sub(r"\g<0> ", marked)


def _with_addresses_as_code(marked: str) -> Iterator[Inline]:
    if ":" not in marked and "/" not in marked and "." not in marked:
        if marked:
            yield Text.of(marked)
        return
    end = 0
    marked = SLACK_LINK.sub(r"\2 (\1)", marked)
    for found in ADDRESS.finditer(marked):
        if found.start() > end:
            yield Text.of(marked[end : found.start()])
        yield Code(found.group().replace(ESCAPE, ""))
        end = found.end()
    if end < len(marked):
        yield Text.of(marked[end:])


def on_one_line(children: Inlines) -> Inlines:
    """Line ends as spaces, for headings and cells."""
    return tidy_line(_spaced(children))


def _spaced(children: Inlines) -> Iterator[Inline]:
    for child in children:
        if isinstance(child, LineBreak):
            yield Text.of(" ")
        elif isinstance(child, Emphasis):
            yield Emphasis(child.mark, tuple(_spaced(child.children)))
        else:
            yield child


def with_marks(children: Inlines, marks: Collection[str]) -> Inlines:
    """The same words, with no other emphasis than by these marks."""
    if not any(isinstance(child, Emphasis) for child in children):
        return children
    return tidy_line(_marked_by(children, marks))


def _marked_by(children: Inlines, marks: Collection[str]) -> Iterator[Inline]:
    for child in children:
        if not isinstance(child, Emphasis):
            yield child
        elif child.mark in marks:
            yield Emphasis(child.mark, tidy_line(_marked_by(child.children, marks), trims=False))
        else:
            yield from _marked_by(child.children, marks)
