"""From the bytes of one file to its text, its settings and its title."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from rag_core.errors import IngestionError
from rag_core.ingestion.front_matter import split_front_matter
from rag_core.ingestion.sources import MAX_BYTES, SourceFile

MARKDOWN = {".md", ".mdx", ".markdown"}
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedDocument:
    """One file as text, before it is cut."""

    source_file: str
    file_hash: str
    text: str
    is_markdown: bool
    fields: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


def read_source(file: SourceFile) -> bytes:
    """The bytes of a file, never more than the bound even if it grows while it is read."""
    try:
        with file.path.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except OSError as error:
        reason = f"it could not be opened ({error.strerror})"
        raise IngestionError(file.source_file, "read", reason) from error
    if len(content) > MAX_BYTES:
        raise IngestionError(file.source_file, "read", "it is larger than 10 MB")
    return content


def file_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def load(source_file: str, content: bytes) -> LoadedDocument:
    """A file's text with its front matter taken off."""
    text, notice = decoded(source_file, content)
    notices = [notice] if notice else []
    fields: Mapping[str, Any] = {}
    is_markdown = Path(source_file).suffix.lower() in MARKDOWN
    if is_markdown:
        fields, text, odd = split_front_matter(text)
        notices += [odd] if odd else []
        text = without_comments(text)
        if source_file.lower().endswith(".mdx"):
            text = without_jsx(text)
    return LoadedDocument(
        source_file=source_file,
        file_hash=file_hash(content),
        text=text,
        is_markdown=is_markdown,
        fields=fields,
        notices=tuple(notices),
    )


def decoded(source_file: str, content: bytes) -> tuple[str, str | None]:
    """The text with plain line ends, and a notice where its encoding had to be guessed."""
    notice = None
    try:
        if content.startswith(UTF16_MARKS):
            text = content.decode("utf-16")
        elif b"\x00" in content:
            raise IngestionError(source_file, "read", "it is not text")
        else:
            text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
        notice = "it is not UTF-8 and was read as Windows-1252"
    return text.replace("\r\n", "\n").replace("\r", "\n"), notice


COMMENT = re.compile(r"<!--.*?-->|\{/\*.*?\*/\}", re.DOTALL)
FENCE = re.compile(r"(?m)^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL)
JSX_LINE = re.compile(
    r"(?m)^(?:import\s.+?from\s+['\"].+?['\"];?|import\s+['\"].+?['\"];?|export\s+\w.*"
    r"|\s*</?[A-Z][\w.]*(?:\s[^<>]*)?/?>\s*)$\n?"
)


def without_comments(text: str) -> str:
    return outside_fences(text, COMMENT) if "<!--" in text or "{/*" in text else text


def without_jsx(text: str) -> str:
    """MDX without its imports, exports and component tags; what stands between tags stays."""
    return outside_fences(text, JSX_LINE)


def outside_fences(text: str, pattern: re.Pattern[str]) -> str:
    """The text without what the pattern finds, code blocks untouched."""
    parts: list[str] = []
    end = 0
    for fence in FENCE.finditer(text):
        parts += [pattern.sub("", text[end : fence.start()]), fence[0]]
        end = fence.end()
    parts.append(pattern.sub("", text[end:]))
    return "".join(parts)


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
