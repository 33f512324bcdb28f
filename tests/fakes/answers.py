"""Answers with defaults, for tests that care about one thing in them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from rag_core.agent.answer import AgentResponse, Citation, Outcome
from rag_core.agent.checks.guard import GuardedText
from rag_core.agent.confidence.level import ConfidenceLevel

PAGE = "https://docs.example/limits#daily"


def an_answer(text: str = "Ten a day [1].", **changes: Any) -> AgentResponse:
    fields: dict[str, Any] = {
        "answer_id": UUID(int=1),
        "answer": GuardedText(text),
        "query": "How many a day?",
        "session_id": UUID(int=2),
        "outcome": Outcome.COMPLETED,
        "confidence": 0.9,
        "confidence_level": ConfidenceLevel.HIGH,
        "model": "quoting",
        "created_at": datetime(2026, 1, 1, tzinfo=UTC),
        "citations": (a_citation(),),
    }
    return AgentResponse(**fields | changes)


def a_refusal(text: str = "The documents do not cover this.", **changes: Any) -> AgentResponse:
    fields = {
        "outcome": Outcome.NO_RESULTS,
        "confidence": 0.1,
        "confidence_level": ConfidenceLevel.INSUFFICIENT,
        "citations": (),
    }
    return an_answer(text, **fields | changes)


def a_citation(number: int = 1, **changes: Any) -> Citation:
    fields: dict[str, Any] = {
        "number": number,
        "page_title": "Limits",
        "section_heading": "Daily",
        "chunk_id": f"chunk-{number}",
        "content_hash": "0" * 64,
        "quote": "ten a day",
        "page_url": PAGE,
    }
    return Citation(**fields | changes)
