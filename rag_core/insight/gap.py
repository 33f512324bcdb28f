"""A gap: what people asked for and did not get, as one thing to write about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from rag_core.agent.answer import Suggestion


class GapState(StrEnum):
    """What the owners of the documents make of a gap. Asked again, an answered one is open."""

    OPEN = "open"
    PLANNED = "planned"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Questions that ask for the same thing, which the documents do not say well enough."""

    gap_id: UUID
    state: GapState
    example: str
    """The question that stands in the middle of the others."""
    examples: tuple[str, ...]
    """A few more, each worded in its own way."""
    count: int
    platforms: tuple[str, ...]
    first_asked_at: datetime
    last_asked_at: datetime
    nearest: Suggestion | None = None
    """The section that comes nearest; None: the documents have nothing of the kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """A question that was refused, answered with caution, or whose answer did not help."""

    answer_id: UUID
    question: str
    """As it stands alone: a follow-up with what it follows."""
    searched: bool
    """Whether anything was looked up; a greeting or a lone letter is nobody's gap."""
    asked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A question's place among the gaps: how near to the middle of which one it is."""

    answer_id: UUID
    gap_id: UUID | None
    """None: looked at, and no gap."""
    asked_at: datetime
    vector: Sequence[float] = ()
    terms: tuple[int, ...] = ()
    """Its words, each known by a short hash only."""
    closeness: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A question as it was placed before."""

    placed: Placed
    gap_id: UUID
    state: GapState
    changed_at: datetime
