"""A reader without training: a unit answers as far as it is near to the question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.ports import Embedder, Reading
from rag_core.reading.units import SectionUnits
from rag_core.retrieval.coverage import coverage

WORDING_WEIGHT = 0.5
"""What the question's rare words in a unit add to its cosine."""
LONGEST_UNIT = 600
"""Characters of a unit that are embedded: a cell or an item may be a page long."""


class NearnessReader:
    """Scores units by cosine and by the question's rare words; sections as the search does.

    Without an embedder the words alone count."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        return "nearness"

    async def read(self, question: str, sections: Sequence[SectionUnits]) -> Sequence[Reading]:
        words = [[s.words_of(unit)[:LONGEST_UNIT] for unit in s.units] for s in sections]
        flat = list(dict.fromkeys(unit for units in words for unit in units))
        if not flat:
            return [Reading(section.score, 0.0, ()) for section in sections]
        shares = np.array(coverage(question, flat))
        cosines = await self._cosines(question, flat)
        near = (cosines + WORDING_WEIGHT * shares) / (1.0 + WORDING_WEIGHT)
        score = dict(zip(flat, near.tolist(), strict=True))
        return [
            Reading(section.score, max(scores, default=0.0), scores)
            for section, units in zip(sections, words, strict=True)
            for scores in (tuple(score[unit] for unit in units),)
        ]

    async def _cosines(self, question: str, units: Sequence[str]) -> NDArray[np.float64]:
        if self._embedder is None:
            return np.zeros(len(units))
        asked = np.array(await self._embedder.embed_query(question))
        vectors = np.array(await self._embedder.embed_documents(units))
        cosines: NDArray[np.float64] = np.clip(vectors @ asked, 0.0, 1.0)
        return cosines
