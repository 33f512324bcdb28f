"""A message that is too long to be a question → its question and the ends of what was pasted."""

from __future__ import annotations

import re

from adapters.graphemes import safe_cut
from rag_core.conversation.question import MAX_QUESTION

GAP = "\n[…]\n"
LONGEST_ASKED = 500
"""What the question itself may take; the rest belongs to the ends of the paste."""
PARAGRAPHS = re.compile(r"\n[ \t]*\n")
CODE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


def shortened(text: str) -> str:
    """At most as long as a question may be; a shorter text stays as it is.

    The last lines of a log say most, so the end of the paste gets twice the room of its start."""
    text = text.strip()
    if len(text) <= MAX_QUESTION:
        return text
    start, end = _asked(text)
    asked = text[start:end].strip()
    rest = f"{text[:start].rstrip()}\n{text[end:].lstrip()}".strip()
    room = MAX_QUESTION - len(asked) - len("\n\n") - len(GAP)
    first = rest[: safe_cut(rest, 0, room // 3)]
    last = rest[safe_cut(rest, 0, len(rest) - (room - room // 3)) :]
    return f"{asked}\n\n{first.rstrip()}{GAP}{last.lstrip()}"[:MAX_QUESTION]


def _asked(text: str) -> tuple[int, int]:
    """Where the question stands: the first paragraph outside code that has a question mark,
    else the first one."""
    paragraphs = list(_paragraphs(text)) or [(0, len(text))]
    marked = (span for span in paragraphs if "?" in text[slice(*span)])
    start, end = next(marked, paragraphs[0])
    if end - start <= LONGEST_ASKED:
        return start, end
    mark = text.rfind("?", start, end) + 1
    if mark == 0:
        return start, safe_cut(text, start, start + LONGEST_ASKED)
    return max(start, safe_cut(text, start, max(start, mark - LONGEST_ASKED))), mark


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """The paragraphs that are not code."""
    code = [found.span() for found in CODE.finditer(text)]
    spans, start = [], 0
    for begin, stop in [*code, (len(text), len(text))]:
        spans += _split(text, start, begin)
        start = stop
    return spans


def _split(text: str, start: int, end: int) -> list[tuple[int, int]]:
    edges = [start]
    for gap in PARAGRAPHS.finditer(text, start, end):
        edges += gap.span()
    edges.append(end)
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [(first, last) for first, last in pairs if text[first:last].strip()]
