"""An answer as the JSON document that is the same behind every door."""

from __future__ import annotations

from adapters.web.documents.values import Document, told
from rag_core.agent.answer import (
    AgentResponse,
    Citation,
    Mark,
    RemovedClaim,
    Source,
    Suggestion,
)

ABOUT = (
    "query", "session_id", "confidence", "confidence_level", "should_answer", "outcome", "model",
    "tokens_used", "retrieval_count", "retrieval_time_ms", "generation_time_ms", "total_time_ms",
    "created_at", "error",
)  # fmt: skip
CITATION = (
    "number", "page_title", "section_heading", "module", "page_url", "chunk_id", "content_hash",
    "quote",
)  # fmt: skip
SOURCE = (
    "chunk_text", "similarity_score", "chapter", "section", "url", "chunk_index", "page_title",
    "source_file", "rank",
)  # fmt: skip
MARK = ("number", "quote")
REMOVED = ("text", "reason")
SUGGESTION = ("page_title", "section_heading", "page_url")


def response_document(response: AgentResponse) -> Document:
    """An answer, the same document behind every door."""
    return {
        **told(response, ("answer_id", "answer")),
        "citations": [citation_document(citation) for citation in response.citations],
        "marks": [mark_document(mark) for mark in response.marks],
        "removed": [removed_document(removed) for removed in response.removed],
        "sources": [source_document(source) for source in response.sources],
        "suggestions": [suggestion_document(near) for near in response.suggestions],
        **told(response, ABOUT),
    }


def citation_document(citation: Citation) -> Document:
    return told(citation, CITATION)


def mark_document(mark: Mark) -> Document:
    return told(mark, MARK)


def removed_document(removed: RemovedClaim) -> Document:
    return told(removed, REMOVED)


def source_document(source: Source) -> Document:
    return told(source, SOURCE)


def suggestion_document(near: Suggestion) -> Document:
    return told(near, SUGGESTION)
