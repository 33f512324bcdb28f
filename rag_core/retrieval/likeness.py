"""How near passages are in meaning to the first few: what answers the same question is alike."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Likeness = Mapping[Hashable, float]
"""For each point the mean of its cosines to the first few; one that is not told has none."""


class Middle(NamedTuple):
    """The mean of some vectors of length one: a cosine to it, times how long it is, is the mean of
    the cosines to them. So where they point apart, being near to them all says less."""

    vector: Sequence[float]
    length: float

    def likeness(self, cosines: Mapping[Any, float]) -> Likeness:
        return {point: self.length * cosine for point, cosine in cosines.items()}


def middle_of(vectors: Sequence[Sequence[float]]) -> Middle | None:
    """None where there is nothing to be near to."""
    if not vectors:
        return None
    mean = np.mean(np.array(vectors, dtype=np.float64), axis=0)
    length = float(np.linalg.norm(mean))
    return Middle(mean.tolist(), length) if length else None


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Clamped to 0–1, as similarities are."""
    length = math.hypot(*one) * math.hypot(*other)
    if not length or len(one) != len(other):
        return 0.0
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return min(1.0, max(0.0, product / length))
