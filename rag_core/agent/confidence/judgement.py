"""Judges whether the sections that were found hold the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rag_core.agent.confidence.level import ConfidenceLevel, ConfidenceMetrics
from rag_core.agent.confidence.profiles import ConfidenceProfile, measured
from rag_core.ports import Reader
from rag_core.reading.estimate import Features, features_of
from rag_core.reading.sections import ReadSection, read_sections
from rag_core.retrieval.results import SearchResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The sections as they were read for one question, and what they amount to."""

    question: str
    results: Sequence[SearchResult]
    sections: tuple[ReadSection, ...]
    """The best of the results in the reader's order."""
    features: Features
    level: ConfidenceLevel
    confidence: float

    @property
    def is_sure(self) -> bool:
        return self.level in {ConfidenceLevel.HIGH, ConfidenceLevel.MEDIUM}

    @property
    def metrics(self) -> ConfidenceMetrics:
        return measured(self.results, self.level, self.confidence)

    def document(self) -> dict[str, Any]:
        """What a thread remembers of it, to explain the answer by: figures, and nobody's words."""
        return {
            "confidence": round(self.confidence, 4),
            "level": self.level.value,
            "features": {name: round(value, 4) for name, value in asdict(self.features).items()},
        }


class Judge:
    """Reads what was found for a question, and estimates how sure the answer is."""

    def __init__(self, *, reader: Reader, profile: ConfidenceProfile) -> None:
        self._reader = reader
        self.profile = profile

    async def judge(
        self, question: str, results: Sequence[SearchResult], *, own: str = ""
    ) -> Judged:
        """`own`: the words of a follow-up itself, where the question has more."""
        sections = await read_sections(question, results, self._reader, own=own) if results else ()
        features = features_of(question, sections)
        level, confidence = self.profile.judge(results, features)
        return Judged(
            question=question,
            results=results,
            sections=sections,
            features=features,
            level=level,
            confidence=confidence,
        )

    async def best_of(self, questions: Sequence[str], results: Sequence[SearchResult]) -> Judged:
        """The evidence judged by the wording that it answers best."""
        judged = [await self.judge(each, results) for each in dict.fromkeys(questions)]
        return max(judged, key=lambda each: each.confidence)
