"""A sentence of the desk's own in the place of an answer, in the form that renderers take."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

from rag_core.agent.answer import AgentResponse, ErrorKind, Outcome
from rag_core.agent.checks.guard import GuardedText
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import InvalidQuestion, NoBookChosen, UpstreamError

SEARCHES = frozenset({"qdrant", "cohere"})
"""Services without which nothing is found."""


def unanswered(
    question: IncomingQuestion,
    sentence: GuardedText,
    *,
    session_id: UUID | None = None,
    model: str = "",
    kind: ErrorKind | None = None,
) -> AgentResponse:
    """Says why there is no answer, or not yet; the session is new where it belongs to none."""
    return AgentResponse(
        answer_id=uuid4(),
        answer=sentence,
        query=question.question.message,
        session_id=session_id or uuid4(),
        outcome=Outcome.ERROR,
        confidence=0.0,
        confidence_level=ConfidenceLevel.INSUFFICIENT,
        model=model,
        created_at=datetime.now(UTC),
        error=sentence,
        error_kind=kind,
    )


def kind_of(error: BaseException) -> ErrorKind:
    """What it was that failed."""
    match error:
        case InvalidQuestion():
            return ErrorKind.INVALID
        case NoBookChosen():
            return ErrorKind.RETRIEVAL
        case UpstreamError() if error.service in SEARCHES:
            return ErrorKind.RETRIEVAL
        case _:
            return ErrorKind.API
