"""The part of a report that tells how right answers are, and which claims stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rag_core.evaluation.claim_quality import ClaimRow
from rag_core.evaluation.figures import shown
from rag_core.evaluation.judging import COVERED, NOT_COVERED
from rag_core.evaluation.measures import auc
from rag_core.evaluation.noise import auc_spread, spread
from rag_core.evaluation.report_blocks import Block, Section, Table
from rag_core.evaluation.rows import QuestionRow
from rag_core.evaluation.run import Run

ANSWERS_NOTE = (
    "Covered questions: right has every fact and cites a right page; found has every fact and cites"
    " another; page cites a right page and misses a fact; wrong has neither. Focus is the share of"
    " an answer's words that the supporting words have; words is the median length."
)
COVERED_COLUMNS: Mapping[str, str] = {
    "covered": "covered",
    "right": "right",
    "found": "found",
    "page": "page",
    "wrong": "wrong",
    "refused": "refused",
    "focus": "focus",
    "words": "median_words",
}
OTHER_COLUMNS: Mapping[str, str] = {
    "not covered": "not_covered",
    "refused": "not_covered_refused",
    "cautioned": "not_covered_cautioned",
    "answered": "not_covered_answered",
    "AUC": "confidence_auc",
}
CLAIM_COLUMNS: Mapping[str, str] = {
    "supported": "supported",
    "kept": "kept",
    "unsupported": "unsupported",
    "caught": "caught",
}
"""What the tables show, and the figure's name in the document."""
PERCENT = frozenset(
    {"right", "found", "page", "wrong", "refused", "cautioned", "answered", "kept", "caught"}
)


def answers_section(run: Run) -> Section:
    if run.answers is None:
        return Section(heading="Answers", blocks=())
    kinds = run.answers_by_kind or {}
    tables = answer_tables(run)
    tables += [table_of("kind", COVERED_COLUMNS, kinds, run.answers)] if kinds else []
    return Section(heading="Answers", blocks=(ANSWERS_NOTE, verdicts_table(run.questions), *tables))


def answer_tables(run: Run) -> list[Table]:
    """What became of covered questions and of others, set by set."""
    sets = run.answers_by_set or {}
    return [table_of("set", names, sets, run.answers) for names in (COVERED_COLUMNS, OTHER_COLUMNS)]


def claims_section(run: Run) -> Section:
    blocks: tuple[Block, ...] = ()
    if run.claims is not None:
        note = (
            "Each claim is checked as a draft of its own. Kept: a supported one reaches the reader"
            " unmarked. Caught: another one is removed or marked."
        )
        by_kind = table_of("kind", CLAIM_COLUMNS, run.claims_by_kind or {}, run.claims)
        blocks = (note, claim_ranges(run.checked_claims or ()), by_kind)
    return Section(heading="Claims", blocks=blocks)


def table_of(
    what: str, columns: Mapping[str, str], parts: Mapping[str, object], whole: object
) -> Table:
    """One row for each part, and one for all of them."""
    rows = [(name, *cells(columns, part)) for name, part in parts.items()]
    return Table(
        columns=(what, *columns),
        rows=(*rows, ("all", *cells(columns, whole))),
        numbers=frozenset(columns),
    )


def cells(columns: Mapping[str, str], part: object) -> Iterator[str]:
    for name, field in columns.items():
        value: int | float | None = getattr(part, field)
        if isinstance(value, int):
            yield str(value)
        else:
            yield percent(value) if name in PERCENT else shown(value)


def percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}".replace("%", " %")


def verdicts_table(rows: Sequence[QuestionRow]) -> Table:
    """Each verdict's share with its range."""
    found: list[tuple[str, ...]] = []
    for kind, verdicts in ((True, COVERED), (False, NOT_COVERED)):
        judged = [row.verdict for row in rows if row.verdict and row.answerable is kind]
        name = "covered" if kind else "not covered"
        found += (
            (f"{name}: {each}", *share_cells([verdict is each for verdict in judged]))
            for each in (verdicts if judged else ())
        )
    sure = {kind: confidences(rows, answerable=kind) for kind in (True, False)}
    if between := auc_spread(sure[True], sure[False]):
        count = str(len(sure[True]) + len(sure[False]))
        value = shown(auc(sure[True], sure[False]))
        found.append(
            ("AUC of confidence", value, f"{shown(between[0])}–{shown(between[1])}", count)
        )
    columns = ("figure", "value", "range", "questions")
    return Table(columns=columns, rows=tuple(found), numbers=frozenset(columns[1:]))


def confidences(rows: Sequence[QuestionRow], *, answerable: bool) -> list[float]:
    judged = (row for row in rows if row.verdict and row.answerable is answerable)
    return [row.confidence for row in judged if row.confidence is not None]


def claim_ranges(claims: Sequence[ClaimRow]) -> Table:
    kinds = (
        ("kept", [row.stands for row in claims if row.is_supported]),
        ("caught", [not row.stands for row in claims if not row.is_supported]),
    )
    columns = ("figure", "value", "range", "claims")
    return Table(
        columns=columns,
        rows=tuple((name, *share_cells(outcomes)) for name, outcomes in kinds if outcomes),
        numbers=frozenset(columns[1:]),
    )


def share_cells(outcomes: Sequence[bool]) -> tuple[str, str, str]:
    between = spread([(float(outcome), 1.0) for outcome in outcomes])
    return (
        percent(sum(outcomes) / len(outcomes)),
        f"{percent(between[0])}–{percent(between[1])}" if between else "–",
        str(len(outcomes)),
    )
