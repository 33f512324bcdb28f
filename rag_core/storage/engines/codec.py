"""Values of the domain as text in the database, and back, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any, TypeVar
from uuid import UUID

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from rag_core.agent.answer import (
    AgentResponse,
    Citation,
    EarlierThread,
    ErrorKind,
    Mark,
    Outcome,
    RemovedClaim,
    Source,
    Suggestion,
)
from rag_core.agent.checks.guard import GuardedText
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.books.book import BookIds
from rag_core.books.policy import ChannelPolicy
from rag_core.books.source import BookSource
from rag_core.conversation.message import Message
from rag_core.conversation.state import RetrievalRecord, is_within_books
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import StorageError
from rag_core.ingestion.job import IngestionJob
from rag_core.storage.engines.engine import Row

Value = TypeVar("Value")

MESSAGES = TypeAdapter(tuple[Message, ...])
RETRIEVALS = TypeAdapter(tuple[RetrievalRecord, ...])
ALL_MESSAGES = TypeAdapter(tuple[tuple[Message, ...], ...])
ALL_RETRIEVALS = TypeAdapter(tuple[tuple[RetrievalRecord, ...], ...])
QUESTION = TypeAdapter(IncomingQuestion)
JOB = TypeAdapter(IngestionJob)
POLICY = TypeAdapter(ChannelPolicy)
SOURCE = TypeAdapter(BookSource)
METADATA: TypeAdapter[Mapping[str, Any]] = TypeAdapter(dict[str, Any])
NAMES = TypeAdapter(tuple[str, ...])


def to_json(adapter: TypeAdapter[Value], value: Value) -> str:
    """A value as JSON text."""
    try:
        return adapter.dump_json(value, exclude_defaults=True).decode()
    except PydanticSerializationError as error:
        raise StorageError("The text holds characters that no database can store.") from error


def from_json(adapter: TypeAdapter[Value], text: str) -> Value:
    """A value from JSON text; what does not fit was not written by this program."""
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        raise StorageError("The database holds a value that this program cannot read.") from error


def joined(
    adapter: TypeAdapter[tuple[tuple[Value, ...], ...]], texts: Sequence[str]
) -> list[Value]:
    """Several JSON arrays as one list, checked in one go because that is half the work."""
    if not texts:
        return []
    arrays: tuple[tuple[Value, ...], ...] = from_json(adapter, f"[{','.join(texts)}]")
    return list(chain.from_iterable(arrays))


def to_time(moment: datetime) -> str:
    """A moment as text that sorts by time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def from_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def maybe_time(text: str | None) -> datetime | None:
    return None if text is None else from_time(text)


def question_to_json(question: IncomingQuestion) -> str:
    return to_json(QUESTION, question)


def question_from_json(text: str) -> IncomingQuestion:
    question = from_json(QUESTION, text)
    if question.books is None:
        return question
    return replace(question, books=BookIds(question.books.ids))  # through its own checks


class AnswerBody(BaseModel):
    """What of an answer has no column of its own."""

    answer: str
    query: str
    sources: tuple[Source, ...]
    suggestions: tuple[Suggestion, ...]
    retrieval_count: int
    retrieval_time_ms: float
    generation_time_ms: float
    total_time_ms: float
    error: str | None
    error_kind: ErrorKind | None = None
    marks: tuple[Mark, ...] = ()
    removed: tuple[RemovedClaim, ...] = ()
    checked_by: str = ""


def answer_body(text: str) -> AnswerBody:
    """What of a stored answer has no column of its own."""
    try:
        return AnswerBody.model_validate_json(text)
    except ValidationError as error:
        raise StorageError("The database holds an answer that this program cannot read.") from error


def answer_to_row(response: AgentResponse) -> dict[str, Any]:
    """The columns of an answer."""
    body = AnswerBody.model_construct(
        **{name: getattr(response, name) for name in AnswerBody.model_fields}
    )
    try:
        text = body.model_dump_json()
    except PydanticSerializationError as error:
        raise StorageError("The text holds characters that no database can store.") from error
    return {
        "answer_id": str(response.answer_id),
        "session_id": str(response.session_id),
        "outcome": response.outcome.value,
        "confidence": response.confidence,
        "confidence_level": response.confidence_level.value,
        "model": response.model,
        "tokens_used": response.tokens_used,
        "created_at": to_time(response.created_at),
        "body": text,
        "source_changed_at": None,
        "change_shown_at": None,
    }


def answer_from_rows(row: Row, citations: Sequence[Row]) -> AgentResponse:
    """An answer from its row and those of its citations, in order."""
    try:
        body = AnswerBody.model_validate_json(row["body"])
        return AgentResponse(
            answer_id=UUID(row["answer_id"]),
            # It passed the guard before it was stored; only text that did is written here.
            answer=GuardedText(body.answer),
            query=body.query,
            session_id=UUID(row["session_id"]),
            outcome=Outcome(row["outcome"]),
            confidence=row["confidence"],
            confidence_level=ConfidenceLevel(row["confidence_level"]),
            model=row["model"],
            created_at=from_time(row["created_at"]),
            citations=tuple(citation_from_row(each) for each in citations),
            marks=body.marks,
            removed=body.removed,
            checked_by=body.checked_by,
            sources=body.sources,
            suggestions=body.suggestions,
            tokens_used=row["tokens_used"],
            retrieval_count=body.retrieval_count,
            retrieval_time_ms=body.retrieval_time_ms,
            generation_time_ms=body.generation_time_ms,
            total_time_ms=body.total_time_ms,
            error=body.error,
            error_kind=body.error_kind,
            source_changed=row["source_changed_at"] is not None,
            asked_before=earlier_from_json(row["earlier_body"]),
        )
    except ValueError as error:  # a ValidationError is one, too
        raise StorageError("The database holds an answer that this program cannot read.") from error


def earlier_from_json(body: str | None) -> EarlierThread | None:
    """Where a question was asked that a later one repeats."""
    if body is None:
        return None
    asked = question_from_json(body)
    return EarlierThread(key=asked.key, message_id=asked.message_id, asked_at=asked.heard_at)


CITATION_COLUMNS = tuple(Citation.__dataclass_fields__)


def citation_to_row(citation: Citation, *, answer_id: UUID) -> dict[str, Any]:
    return {"answer_id": str(answer_id)} | {
        name: getattr(citation, name) for name in CITATION_COLUMNS
    }


def citation_from_row(row: Row) -> Citation:
    return Citation(**{name: row[name] for name in CITATION_COLUMNS})


def merged(metadata: str, news: Mapping[str, Any]) -> str:
    """Stored metadata with these keys laid over it."""
    return to_json(METADATA, {**json.loads(metadata), **news})


def is_looked_up_within(row: Row, books: BookIds) -> bool:
    """Whether the question of this row was looked up, and in these books alone."""
    records = from_json(RETRIEVALS, row["retrievals"]) if row["retrievals"] else ()
    return is_within_books(records, books)
