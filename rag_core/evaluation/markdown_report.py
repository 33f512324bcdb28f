"""A report as Markdown, with plots as rows of blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag_core.evaluation.report_blocks import Bars, Block, Report, Spans, Table

BAR = 30
SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#!~$@])")


def markdown_of(report: Report) -> str:
    return "\n".join(lines_of(report)) + "\n"


def lines_of(report: Report) -> Iterator[str]:
    yield f"# {plain(report.title)}"
    for section in report.sections:
        yield from ("", f"## {plain(section.heading)}")
        for block in section.blocks:
            yield ""
            yield from block_lines(block)


def block_lines(block: Block) -> Iterable[str]:
    match block:
        case Table():
            return table_lines(block)
        case Bars():
            return bar_lines(block)
        case Spans():
            return span_lines(block)
        case str():
            return [plain(block)]


def table_lines(table: Table) -> Iterator[str]:
    yield row_line(table.columns)
    yield row_line("---:" if name in table.numbers else "---" for name in table.columns)
    for row in table.rows:
        yield row_line(map(plain, row))


def row_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Questions are text: what they contain is no markup and no link, and stays on its line."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("://", ":\\//")


def bar_lines(bars: Bars) -> Iterator[str]:
    most = max((count for _, counts in bars.series for count in counts), default=0) or 1
    yield from (f"{plain(bars.title)}:", "", "```text")
    wide = max(map(len, (*bars.labels, *(name for name, _ in bars.series))))
    for name, counts in bars.series:
        if len(bars.series) > 1:
            yield name
        for label, count in zip(bars.labels, counts, strict=True):
            yield f"{label:>{wide}} {'█' * round(BAR * count / most)} {count}"
    yield "```"


def span_lines(spans: Spans) -> Iterator[str]:
    """The table beside it tells the figures; this shows on which side of zero they lie."""
    reach = max((max(abs(low), abs(high)) for _, low, _, high, _ in spans.rows), default=0.0) or 1.0
    yield from (f"{plain(spans.title)}:", "", "```text")
    wide = max((len(label) for label, *_ in spans.rows), default=0)
    for label, low, value, high, _ in spans.rows:
        line = [" "] * (2 * BAR + 1)
        start, middle, end = (round(BAR * (1 + each / reach)) for each in (low, value, high))
        line[start : end + 1] = "─" * (end + 1 - start)
        line[BAR] = "│"
        line[middle] = "●"
        yield f"{label:>{wide}} {''.join(line).rstrip()}"
    yield "```"
