"""What a search found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_core.retrieval.query import SearchQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One passage, where it stands, and how near it is to the query."""

    text: str
    chunk_id: str
    similarity_score: float
    """Cosine of the dense vectors, clamped to 0–1, whatever ordered the results."""
    rank: int
    rank_score: float
    book_id: str
    source_file: str
    content_hash: str
    parent_doc_id: str
    chunk_index: int
    total_chunks: int
    page_title: str = ""
    section_heading: str = ""
    breadcrumb: str = ""
    page_url: str | None = None
    module: str | None = None
    chapter: int | None = None
    lesson: int | None = None
    hardware_tier: int | None = None
    proficiency_level: str | None = None
    layer: str | None = None
    prev_chunk_id: str | None = None
    next_chunk_id: str | None = None
    also_in: tuple[str, ...] = ()
    """Files that hold the same text; they are not results of their own."""
    vector: Sequence[float] = field(default=(), repr=False, compare=False)
    """For the diversity of the evidence; empty where the store was not asked for it."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The payload fields that have no place of their own above."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.similarity_score <= 1.0:
            raise ValueError("a similarity score lies between 0 and 1")
        if self.rank < 1:
            raise ValueError("ranks count from 1")
        if not 0 <= self.chunk_index < self.total_chunks:
            raise ValueError("a chunk's index lies below its document's number of chunks")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResponse:
    """The answer to one search, for the command line, look-ups and HTTP."""

    query: SearchQuery
    results: tuple[SearchResult, ...]
    total_found: int
