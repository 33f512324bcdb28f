"""How sure the evidence makes us, and whether that is enough to answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ConfidenceLevel(StrEnum):
    """What the evidence allows: an answer, an answer with a caution, or a refusal."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INSUFFICIENT = "insufficient"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceMetrics:
    """What was measured on the evidence that the model was handed."""

    average_similarity: float
    min_similarity: float
    max_similarity: float
    num_chunks: int
    chunk_diversity: float
    confidence: float
    confidence_level: ConfidenceLevel

    def __post_init__(self) -> None:
        if not self.min_similarity <= self.average_similarity <= self.max_similarity:
            raise ValueError("the average lies between the least and the greatest similarity")
        if not 0.0 <= self.confidence <= 1.0:
            raise ValueError("confidence lies between 0 and 1")

    @property
    def suffices(self) -> bool:
        """Whether the evidence is enough for an answer without a caution."""
        return self.confidence_level in {ConfidenceLevel.HIGH, ConfidenceLevel.MEDIUM}

    @property
    def should_answer(self) -> bool:
        return self.confidence_level is not ConfidenceLevel.INSUFFICIENT
