"""Markdown inside tags on lines of their own, without the margin that sets it off from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_core.ingestion.blocks import FENCE, fence_end, indent

OPENING = re.compile(r"[ \t]*<(?P<name>[A-Za-z][\w.-]*)(?=[\s>]|\Z)[^<]*\Z")
CLOSING = re.compile(r"[ \t]*</(?P<name>[A-Za-z][\w.-]*)\s*>[ \t]*")
LONGEST_TAG = 30
"""Lines of one opening tag with its attributes."""
DEEPEST = 20
"""Elements inside elements; what is nested deeper keeps its margin."""


def without_margins(text: str) -> str:
    """Text in which what a tag holds begins where the tag does: a margin of four blanks is not
    taken for code, nor one before a fence for a part of it. Code stays as it is."""
    if "</" not in text:
        return text
    lines = text.split("\n")
    shifts = [0] * len(lines)
    for first, last, margin in elements_in(lines):
        inside = [indent(line) for line in lines[first:last] if line.strip()]
        width = min(inside, default=0) - margin
        if width > 0:
            shifts[first:last] = [shift + width for shift in shifts[first:last]]
    if not any(shifts):
        return text
    return "\n".join(dedented(line, shift) for line, shift in zip(lines, shifts, strict=True))


def elements_in(lines: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """The first line inside of each element, the line of its end, and the margin of its tags."""
    open_tags: list[tuple[str, int, int]] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if FENCE.fullmatch(line):
            at = fence_end(list(lines), at)
            continue
        if closing := CLOSING.fullmatch(line):
            tag = (closing["name"], indent(line))
            while open_tags and any(each[:2] == tag for each in open_tags):
                name, margin, first = open_tags.pop()
                if (name, margin) == tag:
                    yield first, at, margin
                    break
        elif (opening := OPENING.match(line)) and len(open_tags) < DEEPEST:
            end = tag_end(lines, at)
            is_component = opening["name"][0].isupper()
            if end and (is_component or (end < len(lines) and lines[end].strip())):
                open_tags.append((opening["name"], indent(line), end))
                at = end
                continue
        at += 1


def tag_end(lines: Sequence[str], at: int) -> int:
    """The line after an opening tag, or 0 where the tag holds nothing or has text behind it."""
    for number in range(at, min(at + LONGEST_TAG, len(lines))):
        line = lines[number].rstrip()
        if not line or (number > at and line.lstrip().startswith("<")):
            return 0
        if line.endswith(">") and not line.endswith("=>"):
            return 0 if line.endswith("/>") else number + 1
    return 0


def dedented(line: str, width: int) -> str:
    wide = line.expandtabs(4) if "\t" in line[:width] else line
    return wide[min(width, indent(wide)) :]
