"""How the words of a text are weighed; both indexes weigh them alike."""

from __future__ import annotations

import math

import qdrant_edge as edge

BM25_K, BM25_B, BM25_LENGTH = 1.5, 0.75, 150.0
MOST_WEIGHT = BM25_K + 1
"""What a word weighs in a passage at the very most; its rarity comes on top."""


def words_model() -> edge.Bm25:
    return edge.Bm25(edge.Bm25Config(k=BM25_K, b=BM25_B, avg_len=BM25_LENGTH, language="english"))


def idf(total: int, having: int) -> float:
    """How rare a word is that so many passages of all have."""
    return math.log1p((total - having + 0.5) / (having + 0.5))
