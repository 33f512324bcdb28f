"""What cosines mean, by the embedding model: models differ in how far apart they put texts.

docs/retrieval.md tells how the figures were measured.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CosineScale:
    """The cut-offs and the weight for the cosines of one model."""

    weight: float
    """What a cosine counts beside the other signals of a search."""
    related: float
    """A passage below it has nothing to do with the question."""
    same_question: float
    """Two questions below it do not ask for the same thing."""


USUAL = CosineScale(weight=1.0, related=0.35, same_question=0.84)
BY_MODEL = {
    "granite-embedding-30m-english-int8": CosineScale(weight=2.2, related=0.57, same_question=0.88),
}


def scale_of(model: str) -> CosineScale:
    """A model that was not measured gets what all-MiniLM-L6-v2 needs."""
    return BY_MODEL.get(model, USUAL)
