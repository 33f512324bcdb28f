"""Lists of sources that a model puts at the end although nobody asked for them."""

from __future__ import annotations

import re

SOURCES = re.compile(
    r"^[ \t]*(?:#{1,6}\s*|[*_]{1,3})?(?:sources?|references?|citations?|footnotes?|quellen|fuentes"
    r"|références|referencias)(?:\s*:?[*_]{1,3}\s*:?|\s*:|\s*$)"
    r"[ \t]*(?:\[\^?\d{1,3}\][,;. \t]*)*$",
    re.IGNORECASE | re.MULTILINE,
)
LISTED = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.):]|\[\^?\d{1,3}\]:?|https?://|【)")
"""How a line of such a list begins."""


def without_sources(draft: str) -> str:
    """The draft without a list of sources at its end: the footnotes are the list."""
    found = list(SOURCES.finditer(draft))
    if not found:
        return draft
    last = found[-1]
    lines = [line for line in draft[last.end() :].splitlines() if line.strip()]
    return draft[: last.start()].rstrip() if all(map(LISTED.match, lines)) else draft
