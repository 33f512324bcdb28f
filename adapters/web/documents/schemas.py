"""The documents of the web door as its OpenAPI description shows them."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

Score = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0)]


class Model(BaseModel):
    """A document that holds what is described and nothing else."""

    model_config = ConfigDict(extra="forbid")


class PassageModel(Model):
    """A passage of a lesson."""

    text: str
    chunk_id: str
    page_title: str
    section_heading: str
    breadcrumb: str
    page_url: str | None
    source_file: str
    book_id: str
    module: str | None
    chapter: int | None
    lesson: int | None
    hardware_tier: int | None
    proficiency_level: str | None
    layer: str | None
    chunk_index: Count
    total_chunks: Annotated[int, Field(ge=1)]
    parent_doc_id: str
    prev_chunk_id: str | None
    next_chunk_id: str | None
    content_hash: str
    metadata: dict[str, Any]


class SearchResultModel(PassageModel):
    """A passage that a search found."""

    similarity_score: Score
    rank: Annotated[int, Field(ge=1)]
    rank_score: float


class SearchResponseModel(Model):
    """What a search found."""

    query: str
    results: list[SearchResultModel]
    total_found: Count
    filter_applied: dict[str, Any]


class LessonModel(Model):
    """A lesson, in reading order."""

    parent_doc_id: str
    page_title: str
    chunks: list[PassageModel]


class ThreadSummaryModel(Model):
    """A thread in a list."""

    session_id: UUID
    platform: Literal["discord", "slack", "web", "cli"]
    created_at: datetime
    updated_at: datetime
    turn_count: Count
    topic_summary: Annotated[str, Field(max_length=200)]


class ThreadsModel(Model):
    """The caller's own threads, the last used first."""

    threads: list[ThreadSummaryModel]


class ThreadKeyModel(Model):
    """The name of a thread."""

    platform: Literal["discord", "slack", "web", "cli"]
    tenant: str
    channel_id: str
    thread_id: str


class ToolCallModel(Model):
    """A search that the language model wished for."""

    id: str
    name: str
    arguments: str


class MessageModel(Model):
    """A message, with the fields that its role has."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    timestamp: datetime
    name: str | None = None
    tool_call_id: str | None = None
    tool_calls: list[ToolCallModel] | None = None
    confidence: Score | None = None


class RetrievalModel(Model):
    """A search that was made in a thread."""

    tool_name: str
    query: str
    results_count: Count
    avg_similarity: float
    timestamp: datetime


class ThreadModel(Model):
    """A whole thread."""

    session_id: UUID
    key: ThreadKeyModel
    messages: list[MessageModel]
    retrieval_history: list[RetrievalModel]
    model: str
    turn_count: Count
    created_at: datetime
    updated_at: datetime
    topic_summary: Annotated[str, Field(max_length=200)]
    metadata: dict[str, Any]
    archived_at: datetime | None


class BookModel(Model):
    """A book."""

    book_id: str
    title: str
    files: Count
    chunks: Count
    embedding_model: str
    last_full_ingest: datetime | None
    last_incremental_update: datetime | None


class BooksModel(Model):
    """The books that the caller may read."""

    books: list[BookModel]


class FailureModel(Model):
    """A file that could not be read."""

    source_file: str
    reason: str


class JobModel(Model):
    """One run over a book's sources."""

    job_id: UUID
    book_id: str
    mode: Literal["incremental", "full", "recreate"]
    status: Literal["queued", "running", "completed", "failed", "cancelled"]
    files_found: Count
    files_processed: Count
    files_skipped: Count
    files_failed: Count
    failures: list[FailureModel]
    notices: list[str]
    chunks_created: Count
    chunks_deleted: Count
    chunks_embedded: Count
    chunks_per_second: float | None
    seconds_left: float | None
    started_at: datetime
    completed_at: datetime | None
    duration_seconds: float | None
    error_message: str | None


class JobsModel(Model):
    """Runs, the last started first."""

    jobs: list[JobModel]


class AliveModel(Model):
    """The process answers."""

    status: Literal["alive"]


class ReadyModel(Model):
    """Every part that an answer needs is there."""

    status: Literal["ready"]
    checks: dict[str, bool]
    figures: dict[str, float]


class FieldErrorModel(Model):
    """One field that is not as it must be."""

    field: str
    message: str
    allowed: str


class ProblemModel(BaseModel):
    """An RFC 9457 problem."""

    title: str
    status: int
    detail: str
    errors: list[FieldErrorModel] | None = None


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route may answer with, for its description."""
    schema = {"$ref": "#/components/schemas/ProblemModel"}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {"application/problem+json": {"schema": schema}},
        }
        for status in statuses
    }
