"""Answers and passages with defaults, for the web door's tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from rag_core.agent.answer import AgentResponse, Citation, Outcome, Source, Suggestion
from rag_core.agent.checks.guard import GuardedText
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.desk.incoming import IncomingQuestion
from rag_core.retrieval.results import SearchResult

START = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
LIMITS = "A key may send **at most 100 requests** in any 60 seconds. Others wait."
QUOTE = "at most 100 requests in any 60 seconds"


def a_result(
    index: int = 0,
    *,
    total: int = 1,
    text: str = LIMITS,
    book_id: str = "course",
    parent: str = "lesson-1",
    **more: Any,
) -> SearchResult:
    fields: dict[str, Any] = {
        "text": text,
        "chunk_id": f"{parent}-{index}",
        "similarity_score": 0.8,
        "rank": 1,
        "rank_score": 0.03,
        "book_id": book_id,
        "source_file": "module-1/limits.md",
        "content_hash": f"hash-{parent}-{index}",
        "parent_doc_id": parent,
        "chunk_index": index,
        "total_chunks": total,
        "page_title": "Limits",
        "section_heading": "Requests",
        "module": "module-1" if book_id == "course" else "staff-module",
    }
    return SearchResult(**(fields | more))


def a_citation(number: int = 1, **more: Any) -> Citation:
    fields: dict[str, Any] = {
        "number": number,
        "page_title": "Limits",
        "section_heading": "Requests",
        "chunk_id": "lesson-1-0",
        "content_hash": "hash-lesson-1-0",
        "quote": QUOTE,
        "module": "module-1",
    }
    return Citation(**(fields | more))


def a_source(**more: Any) -> Source:
    fields: dict[str, Any] = {
        "chunk_text": LIMITS,
        "similarity_score": 0.8,
        "rank": 1,
        "page_title": "Limits",
        "section": "Requests",
        "source_file": "module-1/limits.md",
        "chunk_index": 0,
    }
    return Source(**(fields | more))


def a_response(question: IncomingQuestion, **more: Any) -> AgentResponse:
    fields: dict[str, Any] = {
        "answer_id": uuid4(),
        "answer": GuardedText("A key may send 100 requests [1]."),
        "query": question.question.message,
        "session_id": question.question.session_id,
        "outcome": Outcome.COMPLETED,
        "confidence": 0.9,
        "confidence_level": ConfidenceLevel.HIGH,
        "model": "fake",
        "created_at": START,
        "citations": (a_citation(),),
        "sources": (a_source(),),
        "retrieval_count": 1,
    }
    return AgentResponse(**(fields | more))


def a_refusal(question: IncomingQuestion, **more: Any) -> AgentResponse:
    near = Suggestion(page_title="Limits", section_heading="Files", page_url=None)
    refused: dict[str, Any] = {
        "answer": GuardedText("The documents do not cover this."),
        "outcome": Outcome.NO_RESULTS,
        "confidence": 0.1,
        "confidence_level": ConfidenceLevel.INSUFFICIENT,
        "citations": (),
        "suggestions": (near,),
    }
    return a_response(question, **(refused | more))


def an_error(question: IncomingQuestion) -> AgentResponse:
    sentence = "The language model is not available right now."
    return a_refusal(
        question,
        answer=GuardedText(sentence),
        outcome=Outcome.ERROR,
        confidence=0.0,
        sources=(),
        suggestions=(),
        error=sentence,
    )
