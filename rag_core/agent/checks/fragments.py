"""The address of the words that a footnote quotes: a browser scrolls there and marks them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import groupby
from pathlib import PurePosixPath
from urllib.parse import quote, urlsplit

from rag_core.ingestion.headings import plain

WHOLE = 8
"""Up to so many words are named as a whole; of more, how they begin and how they end."""
ENDS = 5
FEWEST = 2
"""Fewer stand anywhere on a page."""
LONGEST = 600
"""Of what is added to an address: chats refuse long ones."""
NOT_PAGES = {".pdf", ".docx", ".pptx"}
LINE_MARKS = re.compile(
    r"^\s*(?:>\s*)*"
    r"(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+|#{1,6}\s+|:::+\s*\w*\s*|!!!\s*\w*\s*)?"
)
DROPPED = re.compile(r"!\[[^\]]*\]\([^)]*\)|\[\^[^\]\s]+\]|\{\s*#[^}\s]+\s*\}|\[!\w+\]")
CELL = re.compile(r"(?<!\\)\|")
FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
UNSURE = re.compile(r"[\"'`“”‘’«»*_<>\[\]{}|\\$^~…\ufffd]|--|\.\.\.")
"""What a site may draw otherwise than it is written: quotation marks, dashes, left-over markup."""
WIDE = "，。；：！？、"
CLAUSE = re.compile(rf"(?<=[{WIDE}])")
"""Where scripts without spaces may be taken apart."""


def to_quoted(url: str | None, quoted: str) -> str | None:
    """The address of a passage, leading on to the quoted words where its site is a page of text."""
    if url is None or ":~:" in url or not shows_text(url):
        return url
    directive = text_directive(quoted)
    if not directive or len(directive) > LONGEST:
        return url
    return f"{url}{'' if '#' in url else '#'}:~:{directive}"


def quoting_other(url: str | None, quoted: str) -> str | None:
    """An address that leads on to quoted words, leading on to other words of its page."""
    if url is None or ":~:" not in url:
        return url
    return to_quoted(url.partition(":~:")[0].removesuffix("#"), quoted)


def shows_text(url: str) -> bool:
    """Whether a browser shows this as a page: PDFs have places of their own kind."""
    parts = urlsplit(url)
    if re.match(r"(?:page|slide)=\d", parts.fragment):
        return False
    return PurePosixPath(parts.path).suffix.lower() not in NOT_PAGES


def text_directive(quoted: str) -> str:
    """`text=` with the words, or with the first and the last of them; nothing where none are sure.

    A browser looks for each of the two inside one block of the page, so neither may reach over
    the end of a line or of a table's cell."""
    runs = list(sure_runs(quoted))
    if not runs:
        return ""
    first, last = runs[0], runs[-1]
    if len(runs) == 1 and len(first) <= WHOLE:
        return f"text={encoded(first)}"
    return f"text={encoded(first[:ENDS])},{encoded(last[-ENDS:])}"


def sure_runs(quoted: str) -> Iterator[Sequence[str]]:
    """Words that stand on the page side by side, just as they are written here."""
    is_cut = quoted.endswith("…")
    lines = [line for line in quoted.rstrip("…").splitlines() if line.strip()]
    if any(FENCE.match(line) for line in lines):
        return
    for number, line in enumerate(lines, start=1):
        for cell in CELL.split(line) if line.lstrip().startswith("|") else [line]:
            words = words_of(cell)
            if is_cut and number == len(lines):
                words = words[:-1]
            for is_sure, run in groupby(words, key=lambda word: not UNSURE.search(word)):
                if is_sure and len(found := list(run)) >= FEWEST:
                    yield found


def words_of(line: str) -> list[str]:
    """A line as a reader of the page sees it, word by word."""
    seen = unescape(plain(DROPPED.sub(" ", LINE_MARKS.sub("", line))))
    return [part for word in seen.split() for part in CLAUSE.split(word) if part]


def encoded(words: Sequence[str]) -> str:
    """Words in a directive: a dash, a comma or an ampersand would mean something there."""
    return quote(joined(words), safe="").replace("-", "%2D")


def joined(words: Sequence[str]) -> str:
    """With spaces between, except after the clauses of scripts that have none."""
    return "".join(word if word[-1] in WIDE else f"{word} " for word in words).strip()
