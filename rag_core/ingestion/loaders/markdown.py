"""A Markdown or MDX file without what is not for readers."""

from __future__ import annotations

import re

from rag_core.ingestion.front_matter import split_front_matter
from rag_core.ingestion.loaders.decoding import decoded
from rag_core.ingestion.loaders.document import Converted

COMMENT = re.compile(r"<!--.*?-->|\{/\*.*?\*/\}", re.DOTALL)
FENCE = re.compile(r"(?m)^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL)
JSX_LINE = re.compile(
    r"(?m)^(?:import\s.+?from\s+['\"].+?['\"];?|import\s+['\"].+?['\"];?|export\s+\w.*"
    r"|\s*</?[A-Z][\w.]*(?:\s[^<>]*)?/?>\s*)$\n?"
)


def convert(name: str, content: bytes) -> Converted:
    """The text after the front matter, and the front matter's settings."""
    text, guessed = decoded(content)
    fields, text, odd = split_front_matter(text)
    text = without_comments(text)
    if name.lower().endswith(".mdx"):
        text = without_jsx(text)
    notices = tuple(notice for notice in (guessed, odd) if notice)
    return Converted(text=text, fields=fields, notices=notices)


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
