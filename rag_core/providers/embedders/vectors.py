"""Texts for one embedding call, and the vectors that came back: counted, measured, made unit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.errors import UpstreamUnavailable
from rag_core.ports import Vector

LONGEST_TEXT = 16_000
"""Bytes of one text: below the 8,192 tokens that embedding models read, in any language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBudget:
    """How much one call may hold."""

    texts: int
    tokens: int | None = None

    def batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """The texts in their order, in as few calls as the budget allows."""
        batch: list[str] = []
        spent = 0
        for text in map(clipped, texts):
            cost = most_tokens(text)
            full = self.tokens is not None and spent + cost > self.tokens
            if batch and (full or len(batch) == self.texts):
                yield batch
                batch, spent = [], 0
            batch.append(text)
            spent += cost
        if batch:
            yield batch


def clipped(text: str) -> str:
    encoded = text.encode()
    if len(encoded) <= LONGEST_TEXT:
        return text
    return encoded[:LONGEST_TEXT].decode(errors="ignore")


def most_tokens(text: str) -> int:
    """More than any tokenizer makes of it, but for noise."""
    return len(text.encode()) // 2 + 1


def unit_vectors(
    service: str, vectors: Sequence[Sequence[float]], *, count: int, dimension: int | None
) -> list[Vector]:
    """As many vectors of one length as there were texts, each of length one."""
    lengths = {len(vector) for vector in vectors}
    if len(vectors) != count or len(lengths) != 1:
        raise UpstreamUnavailable(service, "not one vector for each text")
    if dimension is not None and lengths != {dimension}:
        raise UpstreamUnavailable(service, f"vectors of {lengths.pop()} dimensions")
    return [unit(service, vector) for vector in vectors]


def unit(service: str, vector: Sequence[float]) -> Vector:
    length = math.sqrt(math.fsum(value * value for value in vector))
    if not math.isfinite(length) or length == 0.0:
        raise UpstreamUnavailable(service, "a vector without a direction")
    return [value / length for value in vector]
