"""Finds quoted words in a rendered text and marks them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from markdown_it.token import Token

from adapters.web.pages.markdown import every, html_token, parsed, rendered, text_token
from adapters.web.pages.templates import Html

OPEN, CLOSE = Html("<mark>"), Html("</mark>")
LAST_MARKER = re.compile(r"\[(\d{1,3})\]\s*\Z")
LEAVES = frozenset({"text", "code_inline", "fence", "code_block"})


Spans = dict[int, tuple[int, int | None]]
"""From where to where each leaf is marked."""


@dataclass(frozen=True, slots=True)
class Place:
    """A letter or digit of a text: in which leaf, and where in it."""

    leaf: int
    offset: int


def marked(text: str, quote: str, *, headings_below: int = 2) -> Html:
    """A Markdown text as HTML, with the words of the quote marked where they stand."""
    return rendered(with_mark(parsed(text, headings_below=headings_below), quote))


def with_marked_quotes(tokens: Sequence[Token], quotes: Mapping[int, str]) -> list[Token]:
    """The tokens of an answer, with the words that answer marked in each quoted section; the line
    above a quotation says by its marker which section it is."""
    pieces: list[Token] = []
    inside: list[Token] = []
    number, depth = 0, 0
    for token in tokens:
        depth += token.type == "blockquote_open"
        if not depth and token.type == "inline":
            found = LAST_MARKER.search(token.content)
            number = int(found[1]) if found else 0
        if not depth:
            pieces.append(token)
            continue
        inside.append(token)
        depth -= token.type == "blockquote_close"
        if not depth:
            pieces += with_mark(inside, quotes.get(number, ""))
            inside = []
    return [*pieces, *inside]


def with_mark(tokens: Sequence[Token], quote: str) -> list[Token]:
    leaves = leaves_of(tokens)
    for number, (start, end) in found(leaves, quote).items():
        mark(leaves[number], start, end)
    for token in tokens:
        if token.children is not None:
            token.children = [piece for child in token.children for piece in unfolded(child)]
    return [piece for token in tokens for piece in unfolded(token)]


def leaves_of(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in every(tokens) if token.type in LEAVES]


def found(leaves: Sequence[Token], quote: str) -> Spans:
    """The stretch of each leaf that belongs to the quote; only letters and digits count,

    because the quote may have been taken before or after the Markdown was read."""
    letters, places = letters_of(leaves)
    for wanted in (letters_of(leaves_of(parsed(quote)))[0], plain_letters(quote)):
        start = letters.find(wanted) if wanted else -1
        if start >= 0:
            return spans_of(places[start : start + len(wanted)])
    return {}


def letters_of(leaves: Sequence[Token]) -> tuple[str, list[Place]]:
    letters: list[str] = []
    places: list[Place] = []
    for number, leaf in enumerate(leaves):
        for offset, character in enumerate(leaf.content):
            for letter in folded(character):
                letters.append(letter)
                places.append(Place(number, offset))
    return "".join(letters), places


def plain_letters(text: str) -> str:
    return "".join(letter for character in text for letter in folded(character))


def folded(character: str) -> Iterator[str]:
    if character.isalnum():
        yield from character.casefold()


def spans_of(places: Sequence[Place]) -> Spans:
    """From the first letter to the last; the leaves between them are marked whole."""
    first, last = places[0], places[-1]
    spans: Spans = {place.leaf: (0, None) for place in places}
    spans[first.leaf] = (first.offset, None)
    spans[last.leaf] = (spans[last.leaf][0], last.offset + 1)
    return spans


def mark(leaf: Token, start: int, end: int | None) -> None:
    """Remember the stretch to mark; the leaf is unfolded when the page is written."""
    leaf.meta["marked"] = (start, end)


def unfolded(token: Token) -> list[Token]:
    """A leaf as itself, or as the pieces around its marked stretch."""
    if "marked" not in token.meta:
        return [token]
    start, end = token.meta["marked"]
    before, words = token.content[:start], token.content[start:end]
    after = token.content[len(before) + len(words) :]
    if token.type == "text":
        pieces = (text_token(before), html_token(OPEN), text_token(words), html_token(CLOSE))
        return [*pieces, text_token(after)]
    code = f"{escape(before)}{OPEN}{escape(words)}{CLOSE}{escape(after)}"
    if token.type == "code_inline":
        return [html_token(Html(f"<code>{code}</code>"))]
    return [Token("html_block", "", 0, content=f"<pre><code>{code}</code></pre>\n")]
