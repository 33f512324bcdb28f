"""What a model reads besides the passages found: how a section that was cut in parts goes on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from rag_core.ports import Vector
from rag_core.retrieval.query import SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult

WIDENED = 2
"""Of the best passages; answers are seldom made of the others."""
MOST = 3
"""Passages that are read besides."""


class Widens(Protocol):
    """A retriever that knows what stands beside a passage."""

    async def search(
        self, query: SearchQuery, *, earlier: Sequence[str] = ()
    ) -> SearchResponse: ...

    async def widened(self, response: SearchResponse) -> SearchResponse: ...


class WideSearch:
    """Finds passages, and hands over with the best of them what stands beside them."""

    def __init__(self, retriever: Widens) -> None:
        self._retriever = retriever

    async def search(self, query: SearchQuery, *, earlier: Sequence[str] = ()) -> SearchResponse:
        return await self._retriever.widened(await self._retriever.search(query, earlier=earlier))


def beside(results: Sequence[SearchResult]) -> list[str]:
    """The ids of the passages before and after the best ones, those that were not found."""
    found = {result.chunk_id for result in results}
    near = (
        chunk_id
        for result in results[:WIDENED]
        for chunk_id in (result.next_chunk_id, result.prev_chunk_id)
    )
    return [each for each in dict.fromkeys(near) if each is not None and each not in found]


def with_sections(
    results: Sequence[SearchResult],
    stored: Mapping[str, SearchResult],
    *,
    vector: Vector,
    threshold: float,
) -> tuple[SearchResult, ...]:
    """The results, and after them the other parts of their sections, each a passage of its own
    that is cited by its own number."""
    sections = {section_of(result) for result in results[:WIDENED]}
    texts = {result.content_hash for result in results}
    wider = list(results)
    for chunk_id in beside(results):
        passage = stored.get(chunk_id)
        if passage is None or section_of(passage) not in sections:
            continue
        similarity = cosine(vector, passage.vector)
        if passage.content_hash in texts or similarity < threshold:
            continue
        texts.add(passage.content_hash)
        wider.append(replace(passage, similarity_score=similarity, rank=len(wider) + 1))
    return tuple(wider[: len(results) + MOST])


def section_of(result: SearchResult) -> tuple[str, str]:
    return result.parent_doc_id, result.breadcrumb


def cosine(one: Vector, other: Vector) -> float:
    """Clamped to 0–1, as similarities are."""
    length = math.hypot(*one) * math.hypot(*other)
    if not length or len(one) != len(other):
        return 0.0
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return min(1.0, max(0.0, product / length))
