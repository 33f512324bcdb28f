"""What answers lose without one of their parts, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_core.evaluation.answer_figures import AnswerFigures, answer_figures
from rag_core.evaluation.answer_report import CLAIM_COLUMNS, cells, percent
from rag_core.evaluation.claim_quality import ClaimRow, claim_figures
from rag_core.evaluation.comparison import movement
from rag_core.evaluation.figures import FIGURES, shown
from rag_core.evaluation.report_blocks import Table
from rag_core.evaluation.rows import QuestionRow

COLUMNS = {
    "right": "right",
    "or page": "right_or_page",
    "wrong": "wrong",
    "refused": "refused",
    "not certain": "not_certain",
    "AUC": "confidence_auc",
}
RIGHT = next(figure for figure in FIGURES if figure.name == "right")


def ablation_table(variants: Mapping[str, Sequence[QuestionRow]], *, whole: str) -> Table:
    """A row for each variant; of all but the whole how the share of right answers moved, and
    whether chance may have moved it."""
    columns = ("variant", *COLUMNS, "right moved", "range", "verdict")
    rows = [
        (name, *figure_cells(answer_figures(rows)), *moved_cells(variants[whole], rows))
        if name != whole
        else (name, *figure_cells(answer_figures(rows)), "", "", "")
        for name, rows in variants.items()
    ]
    return Table(columns=columns, rows=tuple(rows), numbers=frozenset(columns[1:-1]))


def figure_cells(figures: AnswerFigures) -> list[str]:
    return [
        shown(figures.confidence_auc) if name == "AUC" else percent(getattr(figures, field))
        for name, field in COLUMNS.items()
    ]


def moved_cells(
    before: Sequence[QuestionRow], after: Sequence[QuestionRow]
) -> tuple[str, str, str]:
    """Rows of both variants stand in the same order."""
    moved = movement(RIGHT, list(zip(before, after, strict=True)))
    if moved is None:
        return "–", "–", "–"
    found = moved.found
    return (
        points(found.size),
        f"{points(found.low)} to {points(found.high)}",
        moved.verdict,
    )


def points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")


def claims_table(variants: Mapping[str, Sequence[ClaimRow]]) -> Table:
    return Table(
        columns=("verifier", *CLAIM_COLUMNS),
        rows=tuple(
            (name, *cells(CLAIM_COLUMNS, claim_figures(rows))) for name, rows in variants.items()
        ),
        numbers=frozenset(CLAIM_COLUMNS),
    )
