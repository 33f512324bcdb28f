"""Small plots as SVG text: bars side by side, and values with their ranges.

Drawn here: a plotting library would weigh more than the rest of the program for two pictures, and
these take the colours of the page that they stand in."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rag_core.evaluation.report_blocks import Bars, Spans

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 720, 240, 40, 40, 34
ROW, LABEL = 34, 170


def bars_svg(bars: Bars) -> str:
    return svg(bars.title, told_bars(bars), HEIGHT, bar_shapes(bars))


def spans_svg(spans: Spans) -> str:
    height = TOP + ROW * len(spans.rows) + 30
    return svg(spans.title, told_spans(spans), height, span_shapes(spans, height))


def svg(title: str, told: str, height: int, shapes: Iterator[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{escape(title)}</title><desc>{escape(told)}</desc>{''.join(shapes)}</svg>"
    )


def told_bars(bars: Bars) -> str:
    """For whoever does not see the picture."""
    return "; ".join(
        f"{name}: "
        + ", ".join(
            f"{label} {count}" for label, count in zip(bars.labels, counts, strict=True) if count
        )
        for name, counts in bars.series
    )


def bar_shapes(bars: Bars) -> Iterator[str]:
    most = max((count for _, counts in bars.series for count in counts), default=0) or 1
    group = (WIDTH - LEFT) / len(bars.labels)
    wide = group * 0.8 / len(bars.series)
    floor = HEIGHT - BOTTOM
    for kind, (name, counts) in enumerate(bars.series):
        if len(bars.series) > 1:
            yield rect(kind, LEFT + 170 * kind, 8, 12, 12)
            yield text(LEFT + 170 * kind + 18, 18, name)
        for place, count in enumerate(counts):
            x, tall = LEFT + group * (place + 0.1) + wide * kind, (floor - TOP) * count / most
            yield rect(kind, x, floor - tall, wide, tall)
            if count:
                yield text(x + wide / 2, floor - tall - 4, str(count), "middle")
    yield line(LEFT, floor, WIDTH, floor)
    for place, label in enumerate(bars.labels):
        yield text(LEFT + group * (place + 0.5), floor + 18, label, "middle")


def told_spans(spans: Spans) -> str:
    return "; ".join(
        f"{label}: {value:+.3f}, from {low:+.3f} to {high:+.3f}"
        for label, low, value, high, _ in spans.rows
    )


def span_shapes(spans: Spans, height: int) -> Iterator[str]:
    reach = max((max(abs(low), abs(high)) for _, low, _, high, _ in spans.rows), default=0.0) or 1.0
    half = (WIDTH - LABEL - 30) / 2
    middle = LABEL + half

    def at(value: float) -> float:
        return middle + half * value / reach

    yield line(middle, TOP - 16, middle, height - 24)
    for value in (-reach, 0.0, reach):
        yield text(at(value), height - 6, f"{value:+.3f}" if value else "0", "middle")
    for place, (label, low, value, high, is_noise) in enumerate(spans.rows):
        y = TOP + ROW * place
        kind = 2 if is_noise else 0 if value > 0 else 1
        yield text(LABEL - 12, y + 5, label, "end")
        yield rect(kind, at(low), y - 2, max(at(high) - at(low), 1.0), 4)
        yield f'<circle class="s{kind}" cx="{at(value):.1f}" cy="{y}" r="6"/>'


def rect(kind: int, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="s{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
    )


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
