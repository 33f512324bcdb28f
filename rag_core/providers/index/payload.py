"""A chunk as the vector stores keep it, and a stored payload as a search result."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, tzinfo
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar
from uuid import NAMESPACE_URL

from pydantic_core import from_json, to_json

from rag_core.ingestion.documents import DocumentMetadata, EmbeddedChunk
from rag_core.ingestion.identity import named_id
from rag_core.retrieval.candidates import Candidate, Placed
from rag_core.retrieval.passage_kinds import TEXT
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.scoring import Ranked

P = TypeVar("P", bound=Hashable)

METADATA = tuple(field.name for field in fields(DocumentMetadata))
MOMENTS = frozenset({"created_at", "updated_at", "released_at"})
PLACED = {field.name for field in fields(SearchResult)} & {*METADATA, "chunk_id", "text"}
"""Payload fields with a place of their own in a result; the others are its metadata."""
TENANT, EDITION = "book_id", "edition"
HIDDEN = {EDITION}
"""The store's own fields."""
KEYWORDS = (
    EDITION,
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
NOT_ON_EDGE = {"chunk_id", "source_file_hash"}
EDGE_KEYWORDS = tuple(name for name in KEYWORDS if name not in NOT_ON_EDGE)
"""The embedded index finds a passage by its number, and nothing here narrows by that hash. It is
for those who read a server's collection beside us; nobody reads this one, where each index costs a
tenth of adding a passage."""
NARROWING = (TENANT, *EDGE_KEYWORDS, *INTEGERS, *DATETIMES)
OTHERS = "others"
AT_HAND = ("source_file", "total_chunks", "breadcrumb", "kind")
"""Of the others, what candidates are put in order by; the rest is only read of the few winners. The
last ones are missing in an index that was built before there were any."""
ASIDE = tuple(name for name in METADATA if name not in NARROWING)
NARROW = tuple(name for name in METADATA if name in NARROWING)
values_aside, values_narrow = attrgetter(*ASIDE), attrgetter(*NARROW)


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
    return narrow_fields(embedded) | fields_aside(embedded) | {"text": embedded.chunk.text}


def packed_of(embedded: EmbeddedChunk) -> dict[str, Any]:
    """The fields that searches are narrowed by, and one text: what is at hand, the other fields,
    both as a line of JSON, and the passage.

    The embedded engine takes longer over twenty texts than over the passage they belong to."""
    stored = narrow_fields(embedded)
    others = fields_aside(embedded)
    at_hand = to_json([others.pop(name) for name in AT_HAND]).decode()
    stored[OTHERS] = f"{at_hand}\n{to_json(others).decode()}\n{embedded.chunk.text}"
    return stored


def narrow_fields(embedded: EmbeddedChunk) -> dict[str, Any]:
    """What searches are narrowed by."""
    metadata = embedded.chunk.metadata
    fields = present(NARROW, values_narrow(metadata))
    fields[EDITION] = edition(metadata.book_id, metadata.version, metadata.source_file)
    return fields


def fields_aside(embedded: EmbeddedChunk) -> dict[str, Any]:
    """What is only read back, but for the text."""
    chunk = embedded.chunk
    fields = present(ASIDE, values_aside(chunk.metadata))
    fields["chunk_id"] = chunk.id
    fields["word_count"] = chunk.word_count
    fields["token_count"] = chunk.token_count
    fields["char_count"] = chunk.char_count
    fields["embedding_model"] = embedded.embedding_model
    fields["embedded_at"] = spelled(embedded.embedded_at, embedded.embedded_at.tzinfo)
    return fields


def present(names: tuple[str, ...], values: tuple[Any, ...]) -> dict[str, Any]:
    """The values that there are, moments as text."""
    return {
        name: spelled(value, value.tzinfo) if name in MOMENTS else value
        for name, value in zip(names, values, strict=True)
        if value is not None
    }


@lru_cache(maxsize=64)
def spelled(moment: datetime, zone: tzinfo | None) -> str:
    """A moment as text. All passages of a file have the same ones, and to spell them anew for each
    takes longer than all else that is done to a payload; equal moments differ by their zone."""
    return moment.isoformat()


def opened(stored: dict[str, Any]) -> dict[str, Any]:
    """What a search looks at of many passages is as it was; the other fields are still packed."""
    packed = stored.pop(OTHERS)
    if packed.startswith("{"):  # written when all fields stood in one line
        line, stored["text"] = packed.split("\n", 1)
        return {**stored, **read(line)}
    at_hand, stored[OTHERS], stored["text"] = packed.split("\n", 2)
    stored |= zip(AT_HAND, read(at_hand), strict=False)
    return stored


def unpacked(opened: Mapping[str, Any]) -> dict[str, Any]:
    """All fields as they were."""
    fields = dict(opened)
    packed = fields.pop(OTHERS, None)
    return fields | read(packed) if packed else fields


def read(line: str) -> Any:
    """What stands in a line of JSON. The library keeps texts that it has read, to know them again,
    which doubles the time where nearly every text is another one; names of fields are the same."""
    return from_json(line, cache_strings="keys")


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
    placed: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for name, value in payload.items():
        if name in PLACED:
            placed[name] = value
        elif name not in HIDDEN:
            metadata[name] = value
    return SearchResult(
        similarity_score=min(1.0, max(0.0, similarity)),
        rank=rank,
        rank_score=rank_score,
        vector=vector,
        also_in=also_in,
        metadata=metadata,
        **placed,
    )


def candidates(
    ranked: Ranked[P], stored: Mapping[P, Mapping[str, Any]], room: int
) -> list[Candidate]:
    """The first points as an order needs to know them."""
    found = zip(ranked.points[:room], ranked.similarities, ranked.scores, strict=False)
    return [
        Candidate(  # by position: by name takes twice as long
            point,
            payload["book_id"],
            payload["source_file"],
            payload["content_hash"],
            payload["total_chunks"],
            payload["breadcrumb"],
            payload["text"],
            similarity,
            score,
            payload.get("kind", TEXT),
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
