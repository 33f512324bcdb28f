"""One row of the table of faults: what it does, and the figures that it must reach."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Figures = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much of a row is done: 1.0 is all of it."""

    share: float
    seed: int
    folder: Path

    def of(self, whole: int, *, least: int = 1) -> int:
        return max(least, round(whole * self.share))


@dataclass(kw_only=True)
class Outcome:
    """What a row found out."""

    figures: Figures = field(default_factory=dict)
    misses: list[str] = field(default_factory=list)

    def must(self, holds: bool, sentence: str) -> None:
        if not holds:
            self.misses.append(sentence)


Row = Callable[[Scale], Awaitable[Outcome]]


def judged(outcome: Outcome, found: Figures) -> Outcome:
    """Nothing lost, doubled, out of order or in the wrong place."""
    outcome.figures |= found
    for kind in ("lost", "doubled", "stray", "disordered", "crossed"):
        outcome.must(not found[kind], f"{found[kind]} {kind}")
    return outcome


def share(values: list[float], part: float) -> float:
    """The value below which this part of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0.0
