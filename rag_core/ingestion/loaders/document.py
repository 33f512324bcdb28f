"""A file as text, before it is cut."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedDocument:
    """One file as text, before it is cut."""

    source_file: str
    file_hash: str
    text: str
    is_markdown: bool
    fields: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """What a reader made of a file: Markdown, and what the file says of itself."""

    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


class Unreadable(Exception):
    """A file that a reader refuses; its text is the reason, for the list of the job."""


def file_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def title_of(source_file: str, fields: Mapping[str, Any], first_heading: str | None) -> str:
    """What a page is called: by its front matter, its first heading, or its file."""
    named = fields.get("title")
    if isinstance(named, str) and named.strip():
        return named.strip()
    if first_heading:
        return first_heading
    path = PurePosixPath(source_file)
    stem = path.parent.name if path.stem.lower() in {"readme", "index"} else path.stem
    words = re.sub(r"^\d+[-_. ]*", "", stem or path.stem).replace("-", " ").replace("_", " ")
    return words[:1].upper() + words[1:] if words.strip() else path.name
