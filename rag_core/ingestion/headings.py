"""Headings as people read them, and their anchors as each kind of site makes them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

OWN_ANCHOR = re.compile(r"[ \t]*(?:\{\s*#([^\s}]+)[^}]*\}|\{/\*\s*#([^\s*]+)\s*\*/\})[ \t]*$")
LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
CODE = re.compile(r"(`+)(.+?)\1")
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
EMPHASIS = re.compile(r"(\*{1,3}|_{1,3}|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
MARKUP = re.compile(r"[\[\]`<*_~\\]")
"""A text without any of these is read as it stands."""
NOT_IN_SLUG = re.compile(r"[^\w\- ]")
COUNTED = re.compile(r"(.*)_(\d+)")
LONGEST = 1_000
"""Characters of a line that are read for markup: a longer one would take ever more time."""
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


class Site(StrEnum):
    """Who turns the files into pages, which decides addresses and anchors."""

    PLAIN = "plain"
    GITHUB = "github"
    DOCUSAURUS = "docusaurus"
    MKDOCS = "mkdocs"
    MDBOOK = "mdbook"


class Heading(NamedTuple):
    """A heading without its markup, and where a link to it lands."""

    level: int
    title: str
    anchor: str


def headings_of(raw: Sequence[tuple[int, str]], site: Site) -> list[Heading]:
    """All headings of a page, in order: an anchor depends on the ones before it."""
    taken: Counter[str] = Counter(own_anchors(raw) if site is Site.MKDOCS else ())
    headings = []
    for level, line in raw:
        text = line[:LONGEST]
        own = OWN_ANCHOR.search(text) if "{" in text else None
        title = plain(OWN_ANCHOR.sub("", text) if own else text)
        anchor = (own[1] or own[2]) if own else unique(slug(title, site), taken, site)
        headings.append(Heading(level, title, anchor))
    return headings


def own_anchors(raw: Sequence[tuple[int, str]]) -> Iterator[str]:
    """The anchors that authors chose; MkDocs gives none of them to another heading."""
    for _, text in raw:
        if own := OWN_ANCHOR.search(text[:LONGEST]):
            yield own[1] or own[2]


def plain(text: str) -> str:
    """A line of Markdown as it is read: no links, emphasis, code marks or tags."""
    text = text[:LONGEST]
    if not MARKUP.search(text):
        return " ".join(text.split())
    text = LINK.sub(r"\1", text)
    pieces: list[str] = []
    end = 0
    for code in CODE.finditer(text):
        pieces += [unmarked(text[end : code.start()]), code[2].strip()]
        end = code.end()
    pieces.append(unmarked(text[end:]))
    return " ".join("".join(pieces).split())


def unmarked(text: str) -> str:
    text = EMPHASIS.sub(r"\2", TAG.sub("", text))
    return ESCAPE.sub(r"\1", EMPHASIS.sub(r"\2", text))


def slug(title: str, site: Site) -> str:
    """The anchor of a heading, as if it were the only one of its name."""
    if site is Site.MKDOCS:
        ascii_only = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
        return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip().lower())
    lowered = title.strip().lower()
    if site is Site.MDBOOK:
        kept = (c if c.isalnum() or c in "_-" else "-" if c.isspace() else "" for c in lowered)
        return "".join(kept)
    if lowered.isascii():
        return NOT_IN_SLUG.sub("", lowered).replace(" ", "-")
    return "".join(c for c in lowered if is_kept(c)).replace(" ", "-")


def is_kept(character: str) -> bool:
    """Whether GitHub keeps a character: letters, their marks, digits, what joins words."""
    kind = unicodedata.category(character)
    return kind[0] in "LM" or kind in {"Nd", "Nl", "Pc"} or character in "- "


def unique(anchor: str, taken: Counter[str], site: Site) -> str:
    """The anchor with the number that tells it from earlier ones of the same name."""
    if site is Site.MKDOCS:
        return unique_of_mkdocs(anchor, taken)
    candidate = anchor
    while candidate in taken:
        taken[anchor] += 1
        candidate = f"{anchor}-{taken[anchor]}"
    taken[candidate] = 0
    return candidate


def unique_of_mkdocs(anchor: str, taken: Counter[str]) -> str:
    """MkDocs counts on from a number that is there, and numbers a heading without letters."""
    while not anchor or anchor in taken:
        counted = COUNTED.fullmatch(anchor)
        anchor = f"{counted[1]}_{int(counted[2]) + 1}" if counted else f"{anchor}_1"
    taken[anchor] = 0
    return anchor
