"""An answer as the JSON document that is the same behind every door."""

from __future__ import annotations

from adapters.web.documents import Document
from adapters.web.earlier import address_of
from rag_core.agent.answer import AgentResponse, Citation, Source, Suggestion
from rag_core.conversation.key import Platform


def response_document(response: AgentResponse) -> Document:
    """An answer, the same document behind every door."""
    return {
        "answer_id": str(response.answer_id),
        "answer": str(response.answer),
        "citations": [citation_document(citation) for citation in response.citations],
        "sources": [source_document(source) for source in response.sources],
        "suggestions": [suggestion_document(near) for near in response.suggestions],
        "query": response.query,
        "session_id": str(response.session_id),
        "confidence": response.confidence,
        "confidence_level": response.confidence_level.value,
        "should_answer": response.should_answer,
        "outcome": response.outcome.value,
        "model": response.model,
        "tokens_used": response.tokens_used,
        "retrieval_count": response.retrieval_count,
        "retrieval_time_ms": response.retrieval_time_ms,
        "generation_time_ms": response.generation_time_ms,
        "total_time_ms": response.total_time_ms,
        "created_at": response.created_at.isoformat(),
        "error": response.error,
        **earlier_document(response),
    }


def earlier_document(response: AgentResponse) -> Document:
    """Where the same was asked before; nothing where it was not."""
    before = response.asked_before
    if before is None or before.key.platform is not Platform.WEB:
        return {}
    told = {"asked_at": before.asked_at.isoformat(), "url": address_of(response)}
    return {"asked_before": told}


def citation_document(citation: Citation) -> Document:
    return {
        "number": citation.number,
        "page_title": citation.page_title,
        "section_heading": citation.section_heading,
        "module": citation.module,
        "page_url": citation.page_url,
        "chunk_id": citation.chunk_id,
        "content_hash": citation.content_hash,
        "quote": citation.quote,
    }


def source_document(source: Source) -> Document:
    return {
        "chunk_text": source.chunk_text,
        "similarity_score": source.similarity_score,
        "chapter": source.chapter,
        "section": source.section,
        "url": source.url,
        "chunk_index": source.chunk_index,
        "page_title": source.page_title,
        "source_file": source.source_file,
        "rank": source.rank,
    }


def suggestion_document(near: Suggestion) -> Document:
    return {
        "page_title": near.page_title,
        "section_heading": near.section_heading,
        "page_url": near.page_url,
    }
