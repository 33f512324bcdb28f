"""The kinds of files that are read, and how large one of each may be."""

from __future__ import annotations

import os
from dataclasses import dataclass

MEGABYTE = 1024 * 1024
SMALL = 128 * 1024
"""A page of Markdown; at this size no text takes its reader long, however odd it is."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file's name says about how it is read."""

    reader: str
    """The module of the loaders that reads it."""
    max_bytes: int = 10 * MEGABYTE
    apart_from: int = 0
    """From this size on it is read in a process of its own: its format can hang or explode."""


MARKDOWN = Kind("markdown", apart_from=SMALL)
PLAIN = Kind("plain", apart_from=10 * MEGABYTE)
HTML = Kind("html")
KINDS = {
    ".md": MARKDOWN,
    ".mdx": MARKDOWN,
    ".markdown": MARKDOWN,
    ".txt": PLAIN,
    ".htm": HTML,
    ".html": HTML,
    ".xhtml": HTML,
    ".rst": Kind("restructured"),
    ".ipynb": Kind("notebook", max_bytes=50 * MEGABYTE),
    ".pdf": Kind("pdf", max_bytes=50 * MEGABYTE),
    ".docx": Kind("word", max_bytes=50 * MEGABYTE),
    ".pptx": Kind("slides", max_bytes=50 * MEGABYTE),
}
READABLE = frozenset(KINDS)


def ending_of(name: str) -> str:
    """The end of a file's name that says what it is, with its dot: `.md`, or nothing. It is asked
    several times of each file; a path, which is made first, would take ten times as long."""
    ending = os.path.splitext(name)[1].lower()
    return "" if ending == "." else ending


def kind_of(name: str) -> Kind | None:
    """By its ending; a name without one is a page's, as wikis and old archives have them."""
    ending = ending_of(name)
    return KINDS.get(ending) if ending else MARKDOWN


def too_large(kind: Kind) -> str:
    return f"it is larger than {kind.max_bytes // MEGABYTE} MB"
