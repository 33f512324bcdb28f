"""What waits at the desk."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from rag_core.agent.answer import AgentResponse
from rag_core.desk.incoming import IncomingQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """How many questions are neither delivered nor given up, and since when."""

    waiting: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overdue:
    """A question that nobody has begun to work on for a long time."""

    question_id: UUID
    question: IncomingQuestion
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedAnswer:
    """A posted answer one of whose sources has changed since."""

    question_id: UUID
    question: IncomingQuestion
    response: AgentResponse
    rung: str
