"""Gaps as a file to take along: Markdown to read, CSV for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from rag_core.agent.answer import Suggestion
from rag_core.insight.gap import Gap

COLUMNS = (
    "gap_id", "state", "count", "example", "examples", "nearest_section", "nearest_url",
    "platforms", "first_asked_at", "last_asked_at",
)  # fmt: skip
FORMULA = tuple("=+-@＝＋－＠\t\r\n")
"""A spreadsheet takes a cell that begins so for a formula, with spaces before it too."""


def as_markdown(gaps: Sequence[Gap]) -> str:
    """A list to work off: one heading a gap, its questions below."""
    if not gaps:
        return "# Gaps\n\nNothing was asked in vain.\n"
    return "# Gaps\n\n" + "\n".join(map(entry, gaps))


def entry(gap: Gap) -> str:
    times = "once" if gap.count == 1 else f"{gap.count} times"
    where = ", ".join(gap.platforms)
    lines = [
        f"## {in_line(gap.example)}",
        "",
        f"- State: {gap.state.value}",
        f"- Asked in vain: {times}, last on {gap.last_asked_at:%Y-%m-%d} ({where})",
        f"- Nearest section: {section(gap.nearest) or 'none'}",
    ]
    if gap.examples:
        lines.append("- Also asked:")
        lines += [f"  - {in_line(example)}" for example in gap.examples]
    return "\n".join([*lines, ""])


def section(nearest: Suggestion | None) -> str:
    if nearest is None:
        return ""
    words = named(nearest)
    return f"[{in_line(words)}](<{nearest.page_url}>)" if nearest.page_url else in_line(words)


def named(nearest: Suggestion) -> str:
    return " › ".join(part for part in (nearest.page_title, nearest.section_heading) if part)


def in_line(text: str) -> str:
    """A stranger's text as plain words of one line."""
    line = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" else letter for letter in line)


def as_csv(gaps: Sequence[Gap]) -> str:
    written = io.StringIO()
    # Every cell in quotes: a program that separates cells by semicolons makes no new one of them.
    writer = csv.writer(written, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    for gap in gaps:
        writer.writerow(map(cell, row(gap)))
    return written.getvalue()


def row(gap: Gap) -> tuple[str, ...]:
    near = gap.nearest
    return (
        str(gap.gap_id),
        gap.state.value,
        str(gap.count),
        gap.example,
        "\n".join(gap.examples),
        named(near) if near else "",
        (near.page_url or "") if near else "",
        " ".join(gap.platforms),
        gap.first_asked_at.isoformat(),
        gap.last_asked_at.isoformat(),
    )


def cell(text: str) -> str:
    """The text, never a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text
