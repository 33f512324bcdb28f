"""The label of a box as the beginning of its first paragraph, so that nothing parts the two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_core.ingestion.blocks import begins_block, indent

LABEL = "\ue004"
"""Ends the line of a label until it is joined with the text of its box."""
END = "\ue005"
"""A line of its own behind the last one of a box."""
QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)*")
BLOCK = re.compile(
    r"[<{]|(?:import|export)\s|\ue000\d+\ue001\s*\Z|(?:[-*_][ \t]*){3,}\Z|\$\$|:[\w-]+:"
)
"""What a line begins with that is no paragraph, beside headings, lists, tables and code."""
STOPS = (".", ":", "!", "?", "…", "。", "：", "！", "？")
QUESTION = ("?", "？")
TAB = re.compile(r"tab(?![a-z]*le)", re.IGNORECASE)
"""Tabs are titled like sections: what they hold is more than a remark."""


def label(title: str, prefix: str = "") -> str:
    """The line of a label, to be joined with what follows."""
    return f"{prefix}**{title.replace('*', '')}**{LABEL}"


def with_joined_labels(lines: Sequence[str]) -> Iterator[str]:
    """The lines with each label before the first words of its box; before a list or code the label
    is a line that leads to it."""
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.endswith(LABEL):
            yield line.removesuffix(END)
            continue
        line = line.removesuffix(LABEL)
        prefix = QUOTE.match(line)
        start = prefix[0] if prefix else ""
        following = first_line(lines, at, start)
        if following is None:
            yield line
        elif not is_paragraph(lines, following, start):
            yield with_colon(line)
            yield start.rstrip()
            at = following
        else:
            words = lines[following][len(quote_of(lines[following])) :]
            title = line.removesuffix("**")
            if title.endswith(QUESTION):
                yield from (line, f"{start}{words}")
            else:
                yield f"{with_colon(line)} {words}"
            at = following + 1


def first_line(lines: Sequence[str], at: int, start: str) -> int | None:
    """The first line of a box that says something, unless it is another label."""
    depth = start.count(">")
    while at < len(lines):
        line = lines[at]
        if line.endswith((LABEL, END)) or quote_of(line).count(">") != depth:
            return None
        if line[len(quote_of(line)) :].strip():
            return at if indent(line) >= indent(start) else None
        at += 1
    return None


def is_paragraph(lines: Sequence[str], at: int, start: str) -> bool:
    prefix = quote_of(lines[at])
    if indent(lines[at]) > indent(start) + 3:
        return False
    bare = [line[len(quote_of(line)) :] for line in lines[at : at + 2]]
    return not begins_block(bare, 0) and BLOCK.match(lines[at][len(prefix) :]) is None


def quote_of(line: str) -> str:
    prefix = QUOTE.match(line)
    return prefix[0] if prefix else ""


def with_colon(line: str) -> str:
    title = line.removesuffix("**")
    return line if title.endswith(STOPS) else f"{title}:**"


def labelled(title: str, text: str) -> str:
    """The text of a box under its label."""
    return "\n".join(with_joined_labels([label(title), *text.split("\n"), END]))
