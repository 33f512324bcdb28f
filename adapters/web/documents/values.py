"""The domain's values as the JSON documents that HTTP and the command line share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any
from uuid import UUID

from rag_core.books.book import Book
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.conversation.message import Message
from rag_core.conversation.state import ConversationState, RetrievalRecord
from rag_core.conversation.tenants import KnownTenant
from rag_core.ingestion.job import IngestionJob
from rag_core.retrieval.results import SearchResponse, SearchResult

Document = dict[str, Any]

SCORES = ("similarity_score", "rank", "rank_score")
RESULT = (
    "text", "chunk_id", *SCORES, "page_title", "section_heading", "breadcrumb", "page_url",
    "source_file", "book_id", "module", "chapter", "lesson", "hardware_tier", "proficiency_level",
    "layer", "chunk_index", "total_chunks", "parent_doc_id", "prev_chunk_id", "next_chunk_id",
    "content_hash", "metadata",
)  # fmt: skip
RETRIEVAL = ("tool_name", "query", "results_count", "avg_similarity", "timestamp")
BOOK = (
    "book_id", "title", "files", "chunks", "embedding_model", "last_full_ingest",
    "last_incremental_update",
)  # fmt: skip
JOB_BEGUN = (
    "job_id", "book_id", "mode", "status", "files_found", "files_processed", "files_skipped",
    "files_failed",
)  # fmt: skip
JOB_DONE = (
    "notices", "chunks_created", "chunks_deleted", "chunks_embedded", "chunks_per_second",
    "seconds_left", "started_at", "completed_at", "duration_seconds", "error_message",
)  # fmt: skip


def told(value: object, names: Iterable[str]) -> Document:
    """The fields of a value that are named, each as JSON knows it."""
    return {name: plain(getattr(value, name)) for name in names}


def search_document(response: SearchResponse) -> Document:
    """What a search found, with the conditions that held for it."""
    query = response.query
    return {
        "query": query.text,
        "results": [result_document(result) for result in response.results],
        "total_found": response.total_found,
        "filter_applied": {
            "book_ids": list(query.book_ids),
            "limit": query.limit,
            "similarity_threshold": query.similarity_threshold,
            **plain(query.filters.applied()),
        },
    }


def result_document(result: SearchResult) -> Document:
    return told(result, RESULT)


def lesson_document(parent_doc_id: str, chunks: Iterable[SearchResult]) -> Document:
    """A lesson in reading order; nobody searched for it, so it has no scores."""
    documents = [result_document(chunk) for chunk in chunks]
    return {
        "parent_doc_id": parent_doc_id,
        "page_title": documents[0]["page_title"] if documents else "",
        "chunks": [
            {name: value for name, value in document.items() if name not in SCORES}
            for document in documents
        ],
    }


def thread_summary(state: ConversationState) -> Document:
    """A thread as it stands in a list."""
    return {
        "session_id": str(state.session_id),
        "platform": state.key.platform.value,
        "created_at": state.created_at.isoformat(),
        "updated_at": state.updated_at.isoformat(),
        "turn_count": state.turn_count,
        "topic_summary": state.topic_summary,
    }


def thread_document(state: ConversationState) -> Document:
    """A whole thread; what the system message instructs is the operator's own."""
    system, *said = state.messages
    return {
        "session_id": str(state.session_id),
        "key": {
            "platform": state.key.platform.value,
            "tenant": state.key.tenant,
            "channel_id": state.key.channel_id,
            "thread_id": state.key.thread_id,
        },
        "messages": [
            {**message_document(system), "content": ""},
            *(message_document(message) for message in said),
        ],
        "retrieval_history": [retrieval_document(record) for record in state.retrieval_history],
        "model": state.model,
        "turn_count": state.turn_count,
        "created_at": state.created_at.isoformat(),
        "updated_at": state.updated_at.isoformat(),
        "topic_summary": state.topic_summary,
        "metadata": plain(state.metadata),
        "archived_at": state.archived_at.isoformat() if state.archived_at else None,
    }


def message_document(message: Message) -> Document:
    """A message with the fields that its role has."""
    document: Document = {
        "role": message.role.value,
        "content": message.content,
        "timestamp": message.timestamp.isoformat(),
    }
    if message.tool_call_id:
        document |= {"name": message.name, "tool_call_id": message.tool_call_id}
    if message.tool_calls:
        document["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ]
    if message.confidence is not None:
        document["confidence"] = message.confidence
    return document


def retrieval_document(record: RetrievalRecord) -> Document:
    return told(record, RETRIEVAL)


def book_document(book: Book) -> Document:
    return told(book, BOOK)


def job_document(job: IngestionJob) -> Document:
    failures = [told(failure, ("source_file", "reason")) for failure in job.failures]
    return {**told(job, JOB_BEGUN), "failures": failures, **told(job, JOB_DONE)}


def policy_document(place: Place, policy: ChannelPolicy) -> Document:
    """What a place says for itself, as it is taken back."""
    return {
        "platform": place.platform.value,
        "tenant": place.tenant,
        "channel_id": place.channel_id,
        "book_ids": list(policy.books),
        "modules": list(policy.modules),
        "auto_answer": policy.auto_answer,
        "hint_only": policy.hint_only,
        "tone": policy.tone,
        "released_at": plain(policy.released_at),
        "hardware_tier": policy.reader.hardware_tier,
        "proficiency_levels": list(policy.reader.proficiency_levels),
    }


def tenant_document(known: KnownTenant) -> Document:
    """A server or workspace as `footnote servers --json` lists it."""
    return {
        "platform": known.platform.value,
        "id": known.tenant,
        "name": known.name,
        "state": known.trust.value,
        "since": plain(known.since),
    }


def plain(value: Any) -> Any:
    """A value as JSON knows it: times in ISO 8601, ids and choices as text."""
    match value:
        case Enum():
            return value.value
        case datetime():
            return value.isoformat()
        case UUID():
            return str(value)
        case Mapping():
            return {str(name): plain(inner) for name, inner in value.items()}
        case str() | bytes():
            return value
        case Iterable():
            return [plain(inner) for inner in value]
        case _:
            return value
