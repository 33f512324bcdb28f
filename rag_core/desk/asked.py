"""A question as its thread shows it: what was asked, how far it is, and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from rag_core.agent.answer import AgentResponse
from rag_core.desk.progress import QuestionState


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """One question of a thread; its answer is None until it is settled."""

    question_id: UUID
    message_id: str
    message: str
    state: QuestionState
    heard_at: datetime
    response: AgentResponse | None = None
