"""Confidence profiles: how evidence becomes a level, and what the level needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from rag_core.agent.confidence.level import ConfidenceLevel, ConfidenceMetrics
from rag_core.errors import ConfigurationError
from rag_core.reading.estimate import Estimate, Features
from rag_core.retrieval.results import SearchResult


class ConfidenceProfile(Protocol):
    """Judges whether evidence suffices to answer."""

    @property
    def name(self) -> str: ...

    @property
    def floor(self) -> float:
        """The least similarity of a passage that has to do with the question."""
        ...

    @property
    def refused_below(self) -> float:
        """The confidence of a refusal is at most this, whatever was found."""
        ...

    def judge(
        self, results: Sequence[SearchResult], features: Features
    ) -> tuple[ConfidenceLevel, float]:
        """`features`: what a reader made of these results."""
        ...

    def least(self, level: ConfidenceLevel) -> float:
        """The confidence from which a level is reached."""
        ...


@dataclass(frozen=True, slots=True)
class StrictProfile:
    """Fixed cut-offs on the average similarity, and a least number of passages."""

    name: str = "strict"
    floor: float = 0.60
    refused_below: float = 0.59

    def judge(
        self, results: Sequence[SearchResult], features: Features
    ) -> tuple[ConfidenceLevel, float]:
        average = fmean(r.similarity_score for r in results) if results else 0.0
        for level, least, chunks in (
            (ConfidenceLevel.HIGH, 0.85, 5),
            (ConfidenceLevel.MEDIUM, 0.75, 3),
            (ConfidenceLevel.LOW, 0.60, 2),
        ):
            if average >= least and len(results) >= chunks:
                return level, average
        return ConfidenceLevel.INSUFFICIENT, average

    def least(self, level: ConfidenceLevel) -> float:
        return {"high": 0.85, "medium": 0.75, "low": 0.60}.get(level, 0.0)


@dataclass(frozen=True, slots=True)
class SimpleProfile:
    """Answers whatever anything was found for; the top score says how sure."""

    name: str = "simple"
    floor: float = 0.30
    refused_below: float = 0.0

    def judge(
        self, results: Sequence[SearchResult], features: Features
    ) -> tuple[ConfidenceLevel, float]:
        top = max((r.similarity_score for r in results), default=0.0)
        if top >= self.floor:
            return ConfidenceLevel.HIGH, top
        level = ConfidenceLevel.LOW if top > 0.0 else ConfidenceLevel.INSUFFICIENT
        return level, top

    def least(self, level: ConfidenceLevel) -> float:
        return {"high": self.floor, "medium": self.floor / 2, "low": 0.01}.get(level, 0.0)


@dataclass(frozen=True, slots=True)
class CalibratedProfile:
    """The probability that the passages hold the answer, as measured on questions."""

    estimate: Estimate
    name: str = "calibrated"

    @property
    def floor(self) -> float:
        return self.estimate.floor

    @property
    def refused_below(self) -> float:
        return self.estimate.low * 0.99

    def judge(
        self, results: Sequence[SearchResult], features: Features
    ) -> tuple[ConfidenceLevel, float]:
        if not results:
            return ConfidenceLevel.INSUFFICIENT, 0.0
        probability = self.estimate.probability(features)
        for level in (ConfidenceLevel.HIGH, ConfidenceLevel.MEDIUM, ConfidenceLevel.LOW):
            if probability >= self.least(level):
                return level, probability
        return ConfidenceLevel.INSUFFICIENT, probability

    def least(self, level: ConfidenceLevel) -> float:
        cuts = self.estimate
        return {"high": cuts.high, "medium": cuts.medium, "low": cuts.low}.get(level, 0.0)


def profile_named(name: str, estimate: Estimate) -> ConfidenceProfile:
    """The profile that the settings name."""
    if name == "strict":
        return StrictProfile()
    if name == "simple":
        return SimpleProfile()
    if name == "calibrated":
        return CalibratedProfile(estimate)
    raise ConfigurationError(f"There is no confidence profile {name!r}.")


def measured(
    results: Sequence[SearchResult], level: ConfidenceLevel, confidence: float
) -> ConfidenceMetrics:
    """What the evidence of one answer amounts to."""
    scores = [result.similarity_score for result in results] or [0.0]
    average = min(max(fmean(scores), min(scores)), max(scores))  # rounding must not break order
    return ConfidenceMetrics(
        average_similarity=average,
        min_similarity=min(scores),
        max_similarity=max(scores),
        num_chunks=len(results),
        chunk_diversity=diversity([r.vector for r in results if len(r.vector)]),
        confidence=confidence,
        confidence_level=level,
    )


def diversity(vectors: Sequence[Sequence[float]]) -> float:
    """One minus the mean cosine of all pairs; 0 with fewer than two."""
    count = len(vectors)
    if count < 2:
        return 0.0
    units = [unit(vector) for vector in vectors]
    total = [math.fsum(axis) for axis in zip(*units, strict=True)]
    pairs = math.fsum(value * value for value in total) - count
    return min(1.0, max(0.0, 1.0 - pairs / (count * (count - 1))))


def unit(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(math.fsum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
