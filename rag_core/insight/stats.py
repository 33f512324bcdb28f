"""How the answers do: how many, how they ended, how long they took, what askers thought."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from rag_core.books.book import BookIds

OUTCOMES = ("completed", "low_confidence", "no_results", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Questions of one kind, with what became of them."""

    questions: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    """By outcome; those that are still in work have none."""
    helpful: int = 0
    not_helpful: int = 0

    @property
    def helpful_rate(self) -> float | None:
        """Of the ratings; None: nobody has rated."""
        rated = self.helpful + self.not_helpful
        return self.helpful / rated if rated else None

    @property
    def shares(self) -> Mapping[str, float]:
        """Of the answered questions, by outcome."""
        ended = sum(self.outcomes.values())
        return {name: self.outcomes.get(name, 0) / ended if ended else 0.0 for name in OUTCOMES}


@dataclass(frozen=True, slots=True, kw_only=True)
class DayTally:
    """One day in UTC."""

    day: date
    tally: Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelTally:
    """One channel of a chat platform; the web and the terminal are one channel each, because
    their channels are persons."""

    platform: str
    tenant: str
    channel_id: str
    tally: Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Seconds from a question's arrival to its stored answer; None: nothing was answered."""

    p50: float | None = None
    p95: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What happened in the last days."""

    days: tuple[DayTally, ...]
    """Every day of the stretch, the quiet ones too; the oldest first."""
    total: Tally
    waiting: Waiting
    platforms: Mapping[str, Tally]
    channels: tuple[ChannelTally, ...]
    """The busiest first."""


def waited(seconds: float) -> str:
    """A time to an answer as people read it; what is quick is not called nothing."""
    return f"{seconds:.1f} s" if seconds >= 1 else f"{max(seconds, 0.01):.2f} s"


class StatsStore(Protocol):
    """Counts what the database holds."""

    async def last_days(self, days: int, *, books: BookIds | None = None) -> Stats:
        """With books, only questions that were looked up in these alone are counted."""
        ...
