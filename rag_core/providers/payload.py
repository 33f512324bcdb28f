"""A chunk as the vector stores keep it, and a stored payload as a search result."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar
from uuid import NAMESPACE_URL

from pydantic_core import from_json, to_json

from rag_core.ingestion.documents import DocumentMetadata, EmbeddedChunk
from rag_core.ingestion.identity import named_id
from rag_core.retrieval.candidates import Candidate, Placed
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.scoring import Ranked

P = TypeVar("P", bound=Hashable)

METADATA = tuple(field.name for field in fields(DocumentMetadata))
MOMENTS = ("created_at", "updated_at", "released_at")
metadata_values = attrgetter(*METADATA)
PLACED = {field.name for field in fields(SearchResult)} & {*METADATA, "chunk_id", "text"}
"""Payload fields with a place of their own in a result; the others are its metadata."""
HIDDEN = {"edition"}
"""The store's own fields."""
TENANT = "book_id"
KEYWORDS = (
    "edition",
    "chunk_id",
    "module",
    "proficiency_level",
    "layer",
    "parent_doc_id",
    "content_hash",
    "source_file_hash",
)
INTEGERS = ("chapter", "lesson", "hardware_tier")
DATETIMES = ("released_at",)
"""The fields that searches are narrowed by, each with an index of its kind."""
NARROWING = (TENANT, *KEYWORDS, *INTEGERS, *DATETIMES)
OTHERS = "others"


def edition(book_id: str, version: int, source_file: str) -> str:
    """Names one version of one file; a book id and a number hold no slash."""
    return f"{book_id}/{version}/{source_file}"


def parts_of(name: str) -> tuple[str, int, str]:
    """Book, version and file of an edition."""
    book_id, version, source_file = name.split("/", 2)
    return book_id, int(version), source_file


def point_id(chunk_id: str, version: int) -> str:
    """The store's own id, so that two versions of a chunk lie side by side."""
    return named_id(NAMESPACE_URL, f"{chunk_id}:{version}")


def point_number(chunk_id: str, version: int) -> int:
    """The same as a number, which the embedded engine and Python handle in a fraction of the time.

    Of a million passages two have the same number once in forty million indexes."""
    name = f"{chunk_id}:{version}".encode()
    return int.from_bytes(hashlib.sha1(name, usedforsecurity=False).digest()[:8])


def payload_of(embedded: EmbeddedChunk) -> dict[str, Any]:
    """Everything but the vectors; what is unset is left out."""
    chunk, metadata = embedded.chunk, embedded.chunk.metadata
    payload = {
        name: value
        for name, value in zip(METADATA, metadata_values(metadata), strict=True)
        if value is not None
    }
    for name in MOMENTS:
        if name in payload:
            payload[name] = payload[name].isoformat()
    payload["chunk_id"] = chunk.id
    payload["text"] = chunk.text
    payload["word_count"] = chunk.word_count
    payload["token_count"] = chunk.token_count
    payload["char_count"] = chunk.char_count
    payload["embedding_model"] = embedded.embedding_model
    payload["embedded_at"] = embedded.embedded_at.isoformat()
    payload["edition"] = edition(metadata.book_id, metadata.version, metadata.source_file)
    return payload


def packed(payload: dict[str, Any]) -> dict[str, Any]:
    """The fields that searches are narrowed by, and one text: the others as JSON, and the passage.

    The embedded engine takes longer over twenty texts than over the passage they belong to."""
    text = payload.pop("text")
    narrow = {name: payload.pop(name) for name in NARROWING if name in payload}
    narrow[OTHERS] = f"{to_json(payload).decode()}\n{text}"
    return narrow


def unpacked(stored: dict[str, Any]) -> dict[str, Any]:
    """The fields as they were."""
    others, _, text = stored.pop(OTHERS).partition("\n")
    stored.update(from_json(others), text=text)
    return stored


def searchable_text(embedded: EmbeddedChunk) -> str:
    """What its words are looked up in: the breadcrumb too."""
    return f"{embedded.chunk.metadata.breadcrumb}\n\n{embedded.chunk.text}"


def result_of(
    payload: Mapping[str, Any],
    *,
    similarity: float,
    rank: int,
    rank_score: float,
    vector: Sequence[float] = (),
    also_in: tuple[str, ...] = (),
) -> SearchResult:
    """A stored chunk as it was found."""
    return SearchResult(
        similarity_score=min(1.0, max(0.0, similarity)),
        rank=rank,
        rank_score=rank_score,
        vector=vector,
        also_in=also_in,
        metadata={
            name: value
            for name, value in payload.items()
            if name not in PLACED and name not in HIDDEN
        },
        **{name: payload[name] for name in PLACED if name in payload},
    )


def candidates(
    ranked: Ranked[P], stored: Mapping[P, Mapping[str, Any]], room: int
) -> list[Candidate]:
    """The first points as an order needs to know them."""
    found = zip(ranked.points[:room], ranked.similarities, ranked.scores, strict=False)
    return [
        Candidate(
            point=point,
            book_id=payload["book_id"],
            source_file=payload["source_file"],
            content_hash=payload["content_hash"],
            total_chunks=payload["total_chunks"],
            breadcrumb=payload["breadcrumb"],
            text=payload["text"],
            similarity=similarity,
            score=score,
        )
        for point, similarity, score in found
        if (payload := stored.get(point))
    ]


def results_of(
    placed: Sequence[Placed], stored: Mapping[Any, Mapping[str, Any]], vectors: Mapping[Any, Any]
) -> list[SearchResult]:
    """The winners with all that is known of them."""
    return [
        result_of(
            stored[each.candidate.point],
            similarity=each.candidate.similarity,
            rank=rank,
            rank_score=each.score,
            vector=vectors.get(each.candidate.point, ()),
            also_in=each.also_in,
        )
        for rank, each in enumerate(placed, start=1)
    ]
