"""An answer's story: what was asked, looked up, found and said, and how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.books.book import BookIds
from rag_core.conversation.state import RetrievalRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """What somebody thought of an answer; who it was is nobody's business here."""

    helpful: bool
    reason: str
    rated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryLine:
    """An answer in a list."""

    answer_id: UUID
    question: str
    platform: str
    outcome: Outcome
    confidence: float
    asked_at: datetime
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that is stored of one answer, without its asker and its thread."""

    response: AgentResponse
    platform: str
    asked_at: datetime
    stored_at: datetime
    delivered: bool | None
    """None: it is still on its way."""
    attempts: int
    searches: tuple[RetrievalRecord, ...]
    ratings: tuple[Rating, ...]


class StoryStore(Protocol):
    """Answers as whoever keeps the documents looks at them."""

    async def recent(self, *, limit: int, books: BookIds | None = None) -> Sequence[StoryLine]:
        """The last asked first; with books, only answers that were looked up in these alone."""
        ...

    async def of(self, answer_id: UUID, *, books: BookIds | None = None) -> Story | None: ...
