"""A report as one HTML file that needs nothing beside it: no script, no font, no address."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rag_core.evaluation.plots import bars_svg, spans_svg
from rag_core.evaluation.report_blocks import Bars, Block, Report, Spans, Table

STYLE = """
:root {
  color-scheme: light dark;
  --ink: light-dark(#1c1c22, #ececf1); --line: light-dark(#d5d5de, #44444f);
  --s0: light-dark(#2f6fdb, #7aa7ff); --s1: light-dark(#c2571a, #ff9e66);
  --s2: light-dark(#8a8a96, #9a9aa6);
}
body {
  font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
}
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td {
  border-bottom: 1px solid var(--line); padding: .3rem .7rem .3rem 0;
  text-align: left; vertical-align: top;
}
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure { margin: 1.5rem 0; }
figcaption { font-weight: 600; }
svg { width: 100%; height: auto; }
svg text { fill: var(--ink); font-size: 13px; }
svg line { stroke: var(--line); }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); }
"""


def html_of(report: Report) -> str:
    return "".join(pieces(report))


def pieces(report: Report) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
    yield '<meta http-equiv="Content-Security-Policy" content="'
    yield "default-src 'none'; style-src 'unsafe-inline'\">\n"
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{escape(report.title)}</title><style>{STYLE}</style></head>\n<body><main>"
    yield f"<h1>{escape(report.title)}</h1>\n"
    for section in report.sections:
        yield f"<section><h2>{escape(section.heading)}</h2>\n"
        yield from map(block_of, section.blocks)
        yield "</section>\n"
    yield "</main></body></html>\n"


def block_of(block: Block) -> str:
    match block:
        case Table():
            return table_of(block)
        case Bars():
            return figure_of(block.title, bars_svg(block))
        case Spans():
            return figure_of(block.title, spans_svg(block))
        case str():
            return f"<p>{escape(block)}</p>\n"


def figure_of(title: str, drawn: str) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{drawn}</figure>\n"


def table_of(table: Table) -> str:
    numbers = [' class="n"' if name in table.numbers else "" for name in table.columns]

    def row(tag: str, cells: tuple[str, ...]) -> str:
        inner = (
            f"<{tag}{kind}>{escape(cell)}</{tag}>"
            for cell, kind in zip(cells, numbers, strict=True)
        )
        return f"<tr>{''.join(inner)}</tr>\n"

    body = "".join(row("td", cells) for cells in table.rows)
    head = row("th", table.columns)
    return f'<div class="wide"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>\n'
