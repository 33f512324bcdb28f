"""Where a book's documents come from, and when they are read again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from rag_core.errors import InvalidQuestion

SPAN = re.compile(r"(\d{1,5})\s*([mhd])")
UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
SHORTEST, LONGEST = timedelta(minutes=5), timedelta(days=90)
SPAN_RULE = "a number with m, h or d, from 5m to 90d"


@dataclass(frozen=True, slots=True, kw_only=True)
class BookSource:
    """A folder, checkout or address that a book is read from, and how the last times went."""

    source_id: UUID
    book_id: str
    location: str
    added_at: datetime
    base_url: str = ""
    site: str = ""
    every: timedelta | None = None
    """How often it is read again; None: on a signal only."""
    next_at: datetime | None = None
    last_job_id: UUID | None = None
    last_success: datetime | None = None
    last_failure: datetime | None = None
    last_error: str = ""
    """Why the last failure was one; empty after a success."""


def span_of(text: str) -> timedelta:
    """A span of time as people write it: 30m, 6h, 2d."""
    found = SPAN.fullmatch(text.strip().lower())
    span = int(found[1]) * UNITS[found[2]] if found else None
    if span is None or not SHORTEST <= span <= LONGEST:
        raise InvalidQuestion("every", f"every was {text!r}; it is {SPAN_RULE}.", allowed=SPAN_RULE)
    return span
