"""Sections that were read, with scores that a test chooses."""

from __future__ import annotations

from collections.abc import Mapping

from rag_core.ports import Reading
from rag_core.reading.sections import ReadSection, section_of
from tests.fakes.memory_retriever import passage


def read_section(
    text: str,
    scores: Mapping[str, float],
    *,
    relevance: float = 1.0,
    heading: str = "Limits",
    title: str = "Handbook",
) -> ReadSection:
    """A section whose units score by the words that stand in them; the others score 0.1."""
    result = passage(text, heading=heading, title=title)
    section = section_of(result)
    units = tuple(
        max(
            (score for words, score in scores.items() if words in section.words_of(unit)),
            default=0.1,
        )
        for unit in section.units
    )
    return ReadSection(
        result=result,
        section=section,
        reading=Reading(relevance, max(units, default=0.0), units),
    )
