"""What a search found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_core.retrieval.query import SearchQuery
from rag_core.text.visible import visible


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionPart:
    """A chunk that a section is made of, and where in the section's text it begins."""

    chunk_id: str
    content_hash: str
    page_url: str | None
    section_heading: str
    """The nearest heading above it, which may be one within the section."""
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One passage, where it stands, and how near it is to the query: a chunk, or the section that
    the chunk was found in."""

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
    parts: tuple[SectionPart, ...] = ()
    """What a section is made of, in order; none for a chunk alone."""
    left_out_before: int = 0
    left_out_after: int = 0
    """Words of a long section that are not in `text`, on both sides of it."""
    heading_before: str = ""
    heading_after: str = ""
    """The sections beside it on the page; empty at the page's ends."""
    given_for: str = field(default="", repr=False)
    """The question that a staff answer was given for: a reader judges by it, nobody is shown it."""
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

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        """The chunks that it is made of, in order."""
        return tuple(part.chunk_id for part in self.parts) or (self.chunk_id,)

    @property
    def found_at(self) -> int:
        """Where in the text the chunk begins that was found."""
        return next((part.start for part in self.parts if part.chunk_id == self.chunk_id), 0)

    def part_with(self, quote: str) -> SectionPart:
        """The chunk that holds these words; the one that was found where no other does."""
        own = SectionPart(
            chunk_id=self.chunk_id,
            content_hash=self.content_hash,
            page_url=self.page_url,
            section_heading=self.section_heading,
            start=self.found_at,
        )
        wanted = squeezed(quote)
        ends = [part.start for part in self.parts[1:]] + [len(self.text)]
        holding = [
            part
            for part, end in zip(self.parts, ends, strict=False)
            if wanted in squeezed(self.text[part.start : end])
        ]
        found = (part for part in holding if part.chunk_id == self.chunk_id)
        return next(found, holding[0] if holding else own)


def squeezed(text: str) -> str:
    """The characters of a text that readers see, white space left out."""
    return "".join(visible(text).split()).removesuffix("…")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResponse:
    """The answer to one search, for the command line, look-ups and HTTP."""

    query: SearchQuery
    results: tuple[SearchResult, ...]
    total_found: int
