"""The numbered evidence of one answer, across all the searches made for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import fmean
from typing import Any

from rag_core.retrieval.results import SearchResult


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalContext:
    """Evidence, numbered from 1 as it was found; a passage found again keeps its number."""

    query: str
    results: tuple[SearchResult, ...] = ()
    query_time_ms: float = 0.0
    retrieved_at: datetime | None = None
    filter_applied: tuple[tuple[str, Any], ...] = ()
    has_relevant_results: bool = False
    """Whether the best passage is as near as the confidence profile's floor."""
    has_sufficient_context: bool = False
    """Whether the confidence profile finds enough here for an answer without a caution."""

    def __contains__(self, number: int) -> bool:
        return 1 <= number <= len(self.results)

    def handed_over(self, result: SearchResult) -> SearchResult | None:
        """The passage of this evidence that has the chunk which was found; None: it is new."""
        return same_in(self.results, result)

    def __getitem__(self, number: int) -> SearchResult:
        if number not in self:
            raise KeyError(number)
        return self.results[number - 1]

    @property
    def total_found(self) -> int:
        return len(self.results)

    @property
    def average_score(self) -> float:
        return fmean(r.similarity_score for r in self.results) if self.results else 0.0

    @property
    def best_score(self) -> float:
        return max((r.similarity_score for r in self.results), default=0.0)

    def judged(self, *, floor: float, suffices: bool) -> RetrievalContext:
        """The same with what a confidence profile makes of it."""
        return replace(
            self,
            has_relevant_results=bool(self.results) and self.best_score >= floor,
            has_sufficient_context=suffices,
        )

    def extended(
        self, found: Iterable[SearchResult], *, took_ms: float, at: datetime
    ) -> tuple[RetrievalContext, tuple[SearchResult, ...]]:
        """This evidence with one more search, and that search's passages as they are numbered."""
        results = list(self.results)
        numbered: list[SearchResult] = []
        for result in found:
            known = same_in(results, result)
            if known is None:
                rank = len(results) + 1
                known = result if result.rank == rank else replace(result, rank=rank)
                results.append(known)
            numbered.append(known)
        context = replace(
            self,
            results=tuple(results),
            query_time_ms=self.query_time_ms + took_ms,
            retrieved_at=at,
        )
        return context, tuple(numbered)


def same_in(results: Iterable[SearchResult], found: SearchResult) -> SearchResult | None:
    """A section is the same whichever of its chunks was found, a text wherever it stands."""
    return next(
        (
            each
            for each in results
            if found.chunk_id in each.chunk_ids or found.content_hash == each.content_hash
        ),
        None,
    )
