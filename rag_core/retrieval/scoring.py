"""One score out of several signals, so that a passage strong in one is not lost by another."""

from __future__ import annotations

from dataclasses import dataclass

COSINE_WEIGHT = 0.5
WORDS_WEIGHT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What speaks for one passage."""

    cosine: float = 0.0
    words: float = 0.0
    """BM25 divided by the most that any passage could reach for this question: 0 to 1."""

    @property
    def fused(self) -> float:
        """Scores are added, not ranks: how far ahead the first is counts as well."""
        return COSINE_WEIGHT * max(0.0, self.cosine) + WORDS_WEIGHT * self.words
