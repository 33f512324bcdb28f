"""One score out of several signals, so that a passage strong in one is not lost by another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_core.retrieval.coverage import coverage
from rag_core.retrieval.results import SearchResult

COSINE_WEIGHT = 1.0
WORDS_WEIGHT = 0.8
COVERAGE_WEIGHT = 0.5
THREAD_WEIGHT = 0.5
"""What the asker's turns so far weigh, as one text, beside the last one alone."""
SECOND_WEIGHT = 0.5
"""What a page's second passage adds to its first. docs/retrieval.md tells how all were chosen."""
SHORT_PAGE = 2
"""Passages of a page that has too few for its second one to say anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What speaks for one passage as an answer to one text."""

    cosine: float = 0.0
    words: float = 0.0
    """BM25 divided by the most that any passage could reach for this question: 0 to 1."""

    @property
    def fused(self) -> float:
        """Scores are added, not ranks: how far ahead the first is counts as well."""
        return COSINE_WEIGHT * max(0.0, self.cosine) + WORDS_WEIGHT * self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What speaks for one passage: the question itself, and its thread where there is one."""

    question: Signals
    thread: Signals = Signals()

    @property
    def fused(self) -> float:
        return self.question.fused + THREAD_WEIGHT * self.thread.fused


def standing(signals: Sequence[Signals]) -> Standing:
    """The question's signals first, then the thread's."""
    question, *thread = signals
    return Standing(question=question, thread=thread[0] if thread else Signals())


def with_coverage(
    results: Sequence[SearchResult], question: str, thread: str | None
) -> list[SearchResult]:
    """The results with the wording of the texts that were asked counted too."""
    passages = [f"{result.breadcrumb}\n\n{result.text}" for result in results]
    scores = [COVERAGE_WEIGHT * share for share in coverage(question, passages)]
    if thread is not None:
        more = coverage(thread, passages)
        weight = THREAD_WEIGHT * COVERAGE_WEIGHT
        scores = [score + weight * share for score, share in zip(scores, more, strict=True)]
    return [
        replace(result, rank_score=result.rank_score + score)
        for result, score in zip(results, scores, strict=True)
    ]


def with_pages(results: Sequence[SearchResult]) -> list[SearchResult]:
    """The results, best first, each with half of what its page's second passage has.

    On a short page each passage counts as its own second: it has nothing else to show, and a
    text that was cut in two stands neither above nor below a whole one for the cut alone."""
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for result in results:
        scores[page_of(result)].append(result.rank_score)
    seconds = {page: sorted(each, reverse=True)[1:2] for page, each in scores.items()}

    def second(result: SearchResult) -> float:
        is_short = result.total_chunks <= SHORT_PAGE
        return result.rank_score if is_short else sum(seconds[page_of(result)])

    lifted = [
        replace(result, rank_score=result.rank_score + SECOND_WEIGHT * second(result))
        for result in results
    ]
    return sorted(lifted, key=lambda result: -result.rank_score)


def page_of(result: SearchResult) -> tuple[str, str]:
    return result.book_id, result.source_file
