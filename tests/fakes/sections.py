"""Sections that were read, with scores that a test chooses."""

from __future__ import annotations

from collections.abc import Mapping

from rag_core.agent.confidence.judgement import Judge
from rag_core.agent.confidence.profiles import CalibratedProfile
from rag_core.ports import Reader, Reading
from rag_core.reading.estimate import Estimate
from rag_core.reading.sections import ReadSection, section_of
from rag_core.reading.words import WordReader
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


def judge_by_words(reader: Reader | None = None, *, intercept: float = -5.0) -> Judge:
    """As sure as the best unit has the question's words."""
    reader = reader or WordReader()
    estimate = Estimate(
        embedder="any", reader=reader.name, measured_on="here", floor=0.2, intercept=intercept,
        weights={"best_answered": 10.0}, low=0.3, medium=0.6, high=0.9,
    )  # fmt: skip
    return Judge(reader=reader, profile=CalibratedProfile(estimate))
