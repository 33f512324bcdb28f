"""What became of questions, by the facts of their answers: shares of the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median_high

from rag_core.evaluation.judging import Verdict
from rag_core.evaluation.measures import auc
from rag_core.evaluation.rows import QuestionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFigures:
    """Shares of the questions that the pages cover, and of those that they do not; None: there are
    none of that kind."""

    covered: int
    right: float | None
    found: float | None
    page: float | None
    wrong: float | None
    refused: float | None
    right_or_page: float | None
    not_covered: int
    not_covered_refused: float | None
    not_covered_cautioned: float | None
    not_covered_answered: float | None
    not_certain: float | None
    """Of the questions that are not covered: refused, or answered with caution."""
    focus: float | None
    """Which share of an answer's words stand in the supporting ones, the mean of all answers."""
    median_words: int | None
    confidence_auc: float | None


def answer_figures(rows: Sequence[QuestionRow]) -> AnswerFigures:
    covered = [row for row in rows if row.verdict and row.answerable]
    others = [row for row in rows if row.verdict and not row.answerable]
    focus = [row.focus for row in covered if row.focus is not None]
    words = [row.words for row in covered if row.words is not None]
    return AnswerFigures(
        covered=len(covered),
        right=share(covered, Verdict.RIGHT),
        found=share(covered, Verdict.FOUND),
        page=share(covered, Verdict.PAGE),
        wrong=share(covered, Verdict.WRONG),
        refused=share(covered, Verdict.REFUSED),
        right_or_page=share(covered, Verdict.RIGHT, Verdict.PAGE),
        not_covered=len(others),
        not_covered_refused=share(others, Verdict.REFUSED),
        not_covered_cautioned=share(others, Verdict.CAUTIONED),
        not_covered_answered=share(others, Verdict.ANSWERED),
        not_certain=share(others, Verdict.REFUSED, Verdict.CAUTIONED),
        focus=fmean(focus) if focus else None,
        median_words=median_high(words) if words else None,
        confidence_auc=(
            auc(confidences(covered), confidences(others)) if covered and others else None
        ),
    )


def share(rows: Sequence[QuestionRow], *verdicts: Verdict) -> float | None:
    counts = Counter(row.verdict for row in rows)
    return sum(counts[each] for each in verdicts) / len(rows) if rows else None


def confidences(rows: Sequence[QuestionRow]) -> list[float]:
    return [row.confidence for row in rows if row.confidence is not None]


def by_set(rows: Sequence[QuestionRow]) -> dict[str, AnswerFigures]:
    names = dict.fromkeys(row.set for row in rows if row.verdict)
    return {name: answer_figures([row for row in rows if row.set == name]) for name in names}


def by_kind(rows: Sequence[QuestionRow]) -> dict[str, AnswerFigures]:
    names = sorted({row.kind for row in rows if row.verdict and row.kind})
    return {name: answer_figures([row for row in rows if row.kind == name]) for name in names}
