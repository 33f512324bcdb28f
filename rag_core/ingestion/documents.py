"""Chunks of documents, and what is known of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

MIN_CHUNK_TEXT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentMetadata:
    """Where a chunk stands: its book, file, page, section, neighbours and version."""

    book_id: str
    source_file: str
    parent_doc_id: str
    chunk_index: int
    total_chunks: int
    content_hash: str
    source_file_hash: str
    version: int
    created_at: datetime
    updated_at: datetime
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
    released_at: datetime | None = None
    kind: str = "text"
    """What the passage is where it asks, announces or lists and does not explain."""

    def __post_init__(self) -> None:
        if not 0 <= self.chunk_index < self.total_chunks:
            raise ValueError("a chunk's index lies below its document's number of chunks")
        if (self.prev_chunk_id is None) != (self.chunk_index == 0):
            raise ValueError("the first chunk, and only the first, has no previous one")
        if (self.next_chunk_id is None) != (self.chunk_index == self.total_chunks - 1):
            raise ValueError("the last chunk, and only the last, has no next one")
        if self.version < 1:
            raise ValueError("versions count from 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChunk:
    """A passage that is short enough to quote and long enough to say something."""

    id: str
    text: str
    metadata: DocumentMetadata
    word_count: int
    token_count: int
    char_count: int

    def __post_init__(self) -> None:
        if len(self.text.strip()) < MIN_CHUNK_TEXT:
            raise ValueError(f"a chunk has at least {MIN_CHUNK_TEXT} characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedChunk:
    """A chunk with its vector, ready for the store."""

    chunk: DocumentChunk
    vector: Sequence[float]
    embedded_at: datetime
    embedding_model: str
