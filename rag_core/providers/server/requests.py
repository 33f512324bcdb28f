"""What the server is asked for: the nearest by meaning and by words, and the vectors it sends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import qdrant_edge as edge
from qdrant_client import models

from rag_core.providers.server.collection import DENSE, WORDS

OVERSAMPLED = 2.0
"""How many times the candidates are taken from the bytes before the exact vectors decide."""
EXACT_AFTER_BYTES = models.SearchParams(
    quantization=models.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLED)
)
"""Means nothing to a collection that keeps its vectors as they are."""


def by_meaning(
    vector: Sequence[float], where: models.Filter, limit: int, *, words: bool = False
) -> models.QueryRequest:
    return models.QueryRequest(
        query=list(vector),
        using=DENSE,
        filter=where,
        limit=limit,
        params=EXACT_AFTER_BYTES,
        with_vector=[WORDS] if words else False,
    )


def by_words(words: edge.SparseVector, where: models.Filter, limit: int) -> models.QueryRequest:
    asked = models.SparseVector(indices=list(words.indices), values=list(words.values))
    return models.QueryRequest(
        query=asked, using=WORDS, filter=where, limit=limit, with_vector=[WORDS]
    )


def words_of(point: models.ScoredPoint) -> dict[int, float]:
    vector = point.vector.get(WORDS) if isinstance(point.vector, dict) else None
    if not isinstance(vector, models.SparseVector):
        return {}  # a passage of nothing but marks
    return dict(zip(vector.indices, vector.values, strict=True))


def dense_of(record: models.Record) -> tuple[float, ...]:
    vector = record.vector.get(DENSE) if isinstance(record.vector, dict) else None
    return tuple(flat(vector)) if isinstance(vector, list) else ()


def flat(values: Sequence[Any]) -> Iterator[float]:
    return (float(value) for value in values)
