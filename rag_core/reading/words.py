"""A reader that knows no meaning: a unit answers as far as it has the question's rare words."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.ports import Reading
from rag_core.reading.units import SectionUnits
from rag_core.retrieval.coverage import coverage

LONGEST_UNIT = 600
"""Characters of a unit that are looked at: a cell or an item may be a page long."""


class WordReader:
    """Scores units by the question's rare words; sections as the search does."""

    @property
    def name(self) -> str:
        return "words"

    async def read(self, question: str, sections: Sequence[SectionUnits]) -> Sequence[Reading]:
        return [
            Reading(section.score, max(units, default=0.0), units)
            for section, units in zip(sections, word_shares(question, sections), strict=True)
        ]


def word_shares(question: str, sections: Sequence[SectionUnits]) -> list[tuple[float, ...]]:
    """For each unit of each section the share of the question's words that it has, by their rarity
    among all these units."""
    texts = [[each.words_of(unit)[:LONGEST_UNIT] for unit in each.units] for each in sections]
    different = list(dict.fromkeys(text for units in texts for text in units))
    if not different:
        return [() for _ in sections]
    shares = dict(zip(different, coverage(question, different), strict=True))
    return [tuple(shares[text] for text in units) for units in texts]
