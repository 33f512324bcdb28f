"""How probable it is that the sections found hold the answer: a regression over their readings."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from importlib import resources

from pydantic import BaseModel, ConfigDict

from rag_core.reading.sections import ReadSection
from rag_core.retrieval.cosines import scale_of
from rag_core.retrieval.coverage import coverage as wording

DATA = "estimates.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the readings of the best sections show, in figures."""

    best_answered: float = 0.0
    """How surely the best of the sections holds the answer, ..."""
    first_answered: float = 0.0
    """... and the one that is shown first."""
    cosine: float = 0.0
    """Of the question and the nearest section."""
    best_unit: float = 0.0
    coverage: float = 0.0
    """The share of the question's rare words that the first section has."""


FEATURES = tuple(field.name for field in fields(Features))
NOTHING = Features(best_answered=-10.0, first_answered=-10.0)


def features_of(question: str, sections: Sequence[ReadSection]) -> Features:
    """The figures for sections in the reader's order."""
    if not sections:
        return NOTHING
    return Features(
        best_answered=max(each.reading.answered for each in sections),
        first_answered=sections[0].reading.answered,
        cosine=max(each.section.nearness for each in sections),
        best_unit=max(each.best_unit for each in sections),
        coverage=wording(question, [each.section.headed for each in sections])[0],
    )


class Estimate(BaseModel):
    """Weights and cut-offs as they were measured for one embedder and one reader, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    embedder: str
    reader: str
    measured_on: str
    floor: float
    """The cosine below which a section is no suggestion."""
    intercept: float
    weights: dict[str, float]
    low: float
    """Below it the question is refused, ..."""
    medium: float
    """... below it the nearest sections are shown without saying that they answer, ..."""
    high: float
    """... and from it on the answer is sure."""

    @classmethod
    def shipped(cls, *, embedder: str, reader: str) -> Estimate:
        """The measurement for this reader, on the scale of this embedder."""
        known = next((each for each in all_shipped() if each.reader == reader), all_shipped()[-1])
        return known.on_scale_of(embedder)

    def on_scale_of(self, embedder: str) -> Estimate:
        """The same for an embedder whose cosines lie lower or higher."""
        here, there = scale_of(self.embedder).related, scale_of(embedder).related
        weight = self.weights.get("cosine", 0.0)
        stretched = weight * (1.0 - here) / (1.0 - there)
        return self.model_copy(
            update={
                "floor": there,
                "intercept": self.intercept + weight * here - stretched * there,
                "weights": {**self.weights, "cosine": stretched},
            }
        )

    def odds(self, features: Features) -> float:
        """The log odds that the sections hold the answer."""
        shown: dict[str, float] = asdict(features)
        return self.intercept + sum(w * shown[name] for name, w in self.weights.items())

    def probability(self, features: Features) -> float:
        return 1.0 / (1.0 + math.exp(-max(-500.0, self.odds(features))))


def all_shipped() -> tuple[Estimate, ...]:
    file = resources.files("rag_core.reading") / DATA
    return tuple(map(Estimate.model_validate, json.loads(file.read_text(encoding="utf-8"))))
