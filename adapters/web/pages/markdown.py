"""Markdown as HTML that is safe to show: its own tags only, nothing loaded, no scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.web.pages.templates import Html

SAFE_LINKS = frozenset({"http", "https", "mailto"})
KEPT_ATTRIBUTES = {"a": ("href",), "ol": ("start",), "code": ("class",)}
ALIGNED = re.compile(r"text-align:(left|center|right)")
HIGHEST_HEADING, DEEPEST_HEADING = 2, 6
"""A page has one heading of the first level, and it is not in the text."""

MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])

TextRule = Callable[[str], list[Token]]


def parsed(text: str, *, headings_below: int = 2) -> list[Token]:
    """The tokens of a Markdown text, with only what a page may show."""
    tokens = MARKDOWN.parse(text)
    for token in every(tokens):
        clean(token, headings_below)
    for token in tokens:
        if token.children is not None:
            token.children = list(harmless(token.children))
    return tokens


def rendered(tokens: Sequence[Token]) -> Html:
    return Html(MARKDOWN.renderer.render(list(tokens), MARKDOWN.options, {}))


def every(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from every(token.children or ())


def clean(token: Token, headings_below: int) -> None:
    """Keep the attributes that a page needs; a page's own headings stand above."""
    if token.tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
        level = int(token.tag[1]) + headings_below
        token.tag = f"h{max(HIGHEST_HEADING, min(level, DEEPEST_HEADING))}"
    aligned = ALIGNED.match(str(token.attrs.get("style", "")))
    kept = KEPT_ATTRIBUTES.get(token.tag, ())
    token.attrs = {name: value for name, value in token.attrs.items() if name in kept}
    if aligned:
        token.attrs["class"] = f"to-{aligned[1]}"


def harmless(tokens: Sequence[Token]) -> Iterator[Token]:
    """Links that lead to an address of their own, and pictures as their words."""
    dead = 0
    for token in tokens:
        if token.type == "image":
            yield text_token(f"[{token.content or 'picture'}]")
        elif token.type == "link_open" and not leads_out(str(token.attrs.get("href", ""))):
            dead += 1
        elif token.type == "link_close" and dead:
            dead -= 1
        else:
            if token.type == "link_open":
                token.attrs |= {"target": "_blank", "rel": "noopener noreferrer nofollow"}
            yield token


def leads_out(address: str) -> bool:
    try:
        return urlsplit(address).scheme.lower() in SAFE_LINKS
    except ValueError:
        return False


def text_token(text: str) -> Token:
    return Token("text", "", 0, content=text)


def html_token(html: Html) -> Token:
    """HTML of our own between the words of a text."""
    return Token("html_inline", "", 0, content=html)


def with_text(tokens: Sequence[Token], rule: TextRule) -> list[Token]:
    """The tokens with each piece of plain text replaced by what the rule makes of it."""
    for token in tokens:
        if token.type == "inline":
            token.children = [
                new
                for child in token.children or ()
                for new in (rule(child.content) if child.type == "text" else [child])
            ]
    return list(tokens)
