"""The kinds of files that are read, and how large one of each may be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file's name says about how it is read."""

    reader: str
    """The module of the loaders that reads it."""
    max_bytes: int = 10 * MEGABYTE
    is_contained: bool = True
    """Whether it is read in a process of its own: its format can hang or explode."""


MARKDOWN = Kind("markdown", is_contained=False)
PLAIN = Kind("plain", is_contained=False)
KINDS = {
    ".md": MARKDOWN,
    ".mdx": MARKDOWN,
    ".markdown": MARKDOWN,
    ".txt": PLAIN,
    ".pdf": Kind("pdf", max_bytes=50 * MEGABYTE),
    ".docx": Kind("word", max_bytes=50 * MEGABYTE),
    ".pptx": Kind("slides", max_bytes=50 * MEGABYTE),
}
READABLE = frozenset(KINDS)


def kind_of(name: str) -> Kind | None:
    return KINDS.get(PurePosixPath(name).suffix.lower())


def too_large(kind: Kind) -> str:
    return f"it is larger than {kind.max_bytes // MEGABYTE} MB"
