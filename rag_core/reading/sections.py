"""Sections as they were found, read for one question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_core.agent.checks.instructions import for_readers
from rag_core.ports import Reader, Reading
from rag_core.reading.units import SectionUnits
from rag_core.reading.words import word_shares
from rag_core.retrieval.pages import CRUMB
from rag_core.retrieval.results import SearchResult
from rag_core.text.visible import visible

READ = 5
"""Sections that are read, the best by the search; answers seldom stand in the others."""
OWN_WEIGHT = 2.0
"""What the words of a follow-up count in a unit, beside those that it leans on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSection:
    """A section that was found, and what the reader made of it."""

    result: SearchResult
    section: SectionUnits
    reading: Reading

    @property
    def key(self) -> tuple[str, str]:
        """The same for a section that was found for several questions, by whichever part of it."""
        return self.result.parent_doc_id, self.section.text

    @property
    def best_unit(self) -> float:
        return max(self.reading.units, default=0.0)


async def read_sections(
    question: str, results: Sequence[SearchResult], reader: Reader, *, own: str = ""
) -> tuple[ReadSection, ...]:
    """The best sections found, as the reader orders them. `own`: the words of a follow-up itself;
    the units that have them are what it asks for, among all that it leans on."""
    best = results[:READ]
    sections = [section_of(result) for result in best]
    readings = await reader.read(question, sections)
    if own and own != question:
        asked = word_shares(own, sections)
        readings = [
            replace(
                each,
                units=tuple(
                    unit + OWN_WEIGHT * share for unit, share in zip(each.units, units, strict=True)
                ),
            )
            for each, units in zip(readings, asked, strict=True)
        ]
    read = (
        ReadSection(result=result, section=section, reading=reading)
        for result, section, reading in zip(best, sections, readings, strict=True)
    )
    return tuple(sorted(read, key=lambda each: -each.reading.relevance))


def section_of(result: SearchResult) -> SectionUnits:
    """A section as it is read: what may be shown of it, and above a staff answer the question that
    it was given for, because people leave out of a reply what was asked."""
    question = visible(result.given_for)
    return SectionUnits(
        text=for_readers(visible(result.text)),
        title=visible(result.page_title),
        heading=question or visible(result.section_heading),
        breadcrumb=CRUMB.join(filter(None, (visible(result.breadcrumb), question))),
        nearness=result.similarity_score,
        score=result.rank_score,
    )
