"""What a report is made of, whatever it is written as."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of text. Columns named in `numbers` stand to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Counts side by side: one group a label, one bar in it a series."""

    title: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """Values, each with the range that it may as well have; zero stands in the middle."""

    title: str
    rows: tuple[tuple[str, float, float, float, bool], ...]
    """Label, low, value, high, and whether it is noise."""


Block = str | Table | Bars | Spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what stands under it."""

    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A title and its sections."""

    title: str
    sections: tuple[Section, ...]
