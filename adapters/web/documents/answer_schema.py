"""An answer as the OpenAPI description of the web door shows it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from adapters.web.documents.schemas import Count, Model, Score

Milliseconds = Annotated[float, Field(ge=0.0)]


class CitationModel(Model):
    """A footnote."""

    number: Annotated[int, Field(ge=1)]
    page_title: str
    section_heading: str
    module: str | None
    page_url: str | None
    chunk_id: str
    content_hash: str
    quote: str


class MarkModel(Model):
    """One marker of the answer, and the words that back the sentence before it."""

    number: Annotated[int, Field(ge=1)]
    quote: str


class RemovedModel(Model):
    """A sentence that the documents do not back: left out of the answer, or marked in it."""

    text: str
    reason: str


class SourceModel(Model):
    """A passage that the language model was handed."""

    chunk_text: Annotated[str, Field(max_length=500)]
    similarity_score: Score
    chapter: int | None
    section: str
    url: str | None
    chunk_index: Count
    page_title: str
    source_file: str
    rank: Annotated[int, Field(ge=1)]


class SuggestionModel(Model):
    """A section that is near."""

    page_title: str
    section_heading: str
    page_url: str | None


class AgentResponseModel(Model):
    """An answer, a refusal, or the sentence on why there is none."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "answer_id": "9c5f3c4e-58f4-4b06-8f0e-8a0c5a0f3b7d",
                    "answer": "A key may send 100 requests in any 60 seconds [1].",
                    "citations": [
                        {
                            "number": 1,
                            "page_title": "Limits",
                            "section_heading": "Requests",
                            "module": "module-1",
                            "page_url": "https://docs.example.com/limits#requests",
                            "chunk_id": "1f0e7c1d-6c2f-5d0a-9a52-3d1f1b0c9e11",
                            "content_hash": "b1946ac92492d2347c6235b4d2611184",
                            "quote": "at most 100 requests in any 60 seconds",
                        }
                    ],
                    "marks": [{"number": 1, "quote": "at most 100 requests in any 60 seconds"}],
                    "removed": [],
                    "sources": [],
                    "suggestions": [],
                    "query": "How often may a key ask?",
                    "session_id": "5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11",
                    "confidence": 0.91,
                    "confidence_level": "high",
                    "should_answer": True,
                    "outcome": "completed",
                    "model": "gpt-4o-mini",
                    "tokens_used": 812,
                    "retrieval_count": 1,
                    "retrieval_time_ms": 9.4,
                    "generation_time_ms": 801.0,
                    "total_time_ms": 823.5,
                    "created_at": "2026-01-05T09:30:00+00:00",
                    "error": None,
                }
            ]
        },
    )

    answer_id: UUID
    answer: Annotated[str, Field(min_length=1)]
    citations: list[CitationModel]
    marks: list[MarkModel]
    removed: list[RemovedModel]
    sources: list[SourceModel]
    suggestions: Annotated[list[SuggestionModel], Field(max_length=3)]
    query: str
    session_id: UUID
    confidence: Score
    confidence_level: Literal["high", "medium", "low", "insufficient"]
    should_answer: bool
    outcome: Literal["completed", "low_confidence", "no_results", "error"]
    model: str
    tokens_used: Count
    retrieval_count: Count
    retrieval_time_ms: Milliseconds
    generation_time_ms: Milliseconds
    total_time_ms: Milliseconds
    created_at: datetime
    error: str | None
