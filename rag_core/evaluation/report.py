"""A report on a measurement: what it says, in blocks that Markdown and HTML are written from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rag_core.evaluation.answer_report import answers_section, claims_section
from rag_core.evaluation.figures import FIGURES, Figure, is_answered, shown
from rag_core.evaluation.gates import Passage
from rag_core.evaluation.judging import Verdict
from rag_core.evaluation.noise import spread
from rag_core.evaluation.report_blocks import Bars, Block, Report, Section, Table
from rag_core.evaluation.rows import SHOWN_PAGES, QuestionRow
from rag_core.evaluation.run import Run

LISTED = 50
"""Questions in one list; the JSON document has them all."""
BINS = 10
PAGES_NAMED = 3
ANSWER_SHOWN = 300


def report_on(run: Run, passed: Sequence[Passage] = ()) -> Report:
    """What one run found, and which questions to look at."""
    sections = [
        Section(heading="How it was measured", blocks=(setup_table(run), *rerank_note(run))),
        gates_section(passed),
        Section(
            heading="Figures", blocks=(FIGURES_NOTE, figures_table(run), *plots(run.questions))
        ),
        answers_section(run),
        claims_section(run),
        *(listed(run.questions, each) for each in LISTS),
    ]
    return Report(
        title=f"Evaluation of {run.question_set}",
        sections=tuple(section for section in sections if section.blocks),
    )


FIGURES_NOTE = (
    "All figures are shares or scores from 0 to 1, and more is better. Asked with as many other"
    " questions of the same kind, a figure would lie in its range 95 times of 100."
)


def setup_table(run: Run) -> Table:
    told = {**run.setup, "measured at": f"{run.measured_at:%Y-%m-%d %H:%M} UTC"}
    return Table(columns=("what", "in this run"), rows=tuple(told.items()))


def rerank_note(run: Run) -> list[str]:
    """Said plainly: a search that was not reranked was measured in the other order."""
    if run.rerank is None or not run.rerank.failed:
        return []
    return [
        f"Of {run.rerank.searches} searches {run.rerank.failed} were not reranked, because"
        f" {run.rerank.model} did not answer; they count in the order that holds without it."
    ]


def gates_section(passed: Sequence[Passage]) -> Section:
    rows = tuple(
        (
            one.gate.figure.title,
            f"{one.gate.least:g}",
            shown(one.value),
            "reached" if one.is_open else "NOT REACHED",
        )
        for one in passed
    )
    columns = ("figure", "at least", "was", "")
    table = Table(columns=columns, rows=rows, numbers=frozenset(columns[1:3]))
    return Section(heading="What had to be reached", blocks=(table,) if rows else ())


def figures_table(run: Run) -> Table:
    columns = ("figure", "value", "range", "questions", "what it tells")
    rows = tuple(figure_row(each, run) for each in FIGURES if getattr(run, each.part) is not None)
    return Table(columns=columns, rows=rows, numbers=frozenset(columns[1:4]))


def figure_row(figure: Figure, run: Run) -> tuple[str, ...]:
    gains = [gain for row in run.questions if figure.gain and (gain := figure.gain(row))]
    lies = spread(gains)
    return (
        figure.title,
        shown(figure.of(run)),
        f"{shown(lies[0])}–{shown(lies[1])}" if lies else "–",
        str(len(gains)) if gains else "–",
        figure.tells,
    )


def plots(rows: Sequence[QuestionRow]) -> list[Bars]:
    searched = [row for row in rows if row.found is not None]
    asked = [row for row in rows if row.confidence is not None]
    return [
        *([places_plot(searched)] if searched else []),
        *([confidence_plot(asked)] if asked else []),
    ]


def places_plot(rows: Sequence[QuestionRow]) -> Bars:
    places = [place_of_first(row) for row in rows]
    labels = (*map(str, range(1, SHOWN_PAGES + 1)), "further")
    counts = (*(places.count(place) for place in range(1, SHOWN_PAGES + 1)), places.count(None))
    return Bars(
        title="Place of the first relevant page, in questions",
        labels=labels,
        series=(("questions", counts),),
    )


def place_of_first(row: QuestionRow) -> int | None:
    places = (n for n, page in enumerate(row.found or (), start=1) if page in row.relevant_ids)
    return next(places, None)


def confidence_plot(rows: Sequence[QuestionRow]) -> Bars:
    def counts(answerable: bool) -> tuple[int, ...]:
        bins = [
            min(int((row.confidence or 0.0) * BINS), BINS - 1)
            for row in rows
            if row.answerable is answerable
        ]
        return tuple(bins.count(place) for place in range(BINS))

    return Bars(
        title="Confidence, in questions",
        labels=tuple(f"{place / BINS:.1f}" for place in range(BINS)),
        series=(("answerable", counts(True)), ("without an answer", counts(False))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Questions that somebody should look at, and what is told of them."""

    heading: str
    note: str
    holds: Callable[[QuestionRow], bool]
    columns: tuple[str, ...]
    cells: Callable[[QuestionRow], tuple[str, ...]]


def named(pages: Iterable[str] | None) -> str:
    found = list(pages or ())
    more = f" and {len(found) - PAGES_NAMED} more" if len(found) > PAGES_NAMED else ""
    return (", ".join(found[:PAGES_NAMED]) or "nothing") + more


def beginning(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= ANSWER_SHOWN else f"{words[:ANSWER_SHOWN]}…"


LISTS = (
    Listed(
        heading="Relevant page not among the first five",
        note="Are the page's headings in the askers' words? Does another page say the same?",
        holds=lambda row: row.recall_at_5 == 0.0,
        columns=("relevant", "found"),
        cells=lambda row: (named(row.relevant_ids), named(row.found)),
    ),
    Listed(
        heading="Answerable, and refused",
        note="Does one passage hold the whole answer? It is judged passage by passage.",
        holds=lambda row: row.answerable and row.outcome is not None and not is_answered(row),
        columns=("relevant", "confidence"),
        cells=lambda row: (named(row.relevant_ids), shown(row.confidence)),
    ),
    Listed(
        heading="Without an answer, and answered",
        note="What the answer rested on. Is the page near the question, or is the set wrong?",
        holds=lambda row: not row.answerable and is_answered(row),
        columns=("cited", "confidence"),
        cells=lambda row: (named(row.cited), shown(row.confidence)),
    ),
    Listed(
        heading="Answered from other pages",
        note="No footnote leads to a page that the set calls relevant.",
        holds=lambda row: (
            bool(row.relevant_ids)
            and is_answered(row)
            and not set(row.relevant_ids).intersection(row.cited or ())
        ),
        columns=("relevant", "cited"),
        cells=lambda row: (named(row.relevant_ids), named(row.cited)),
    ),
    Listed(
        heading="Answered wrong",
        note="Neither the facts nor a right page. Is the set's list of right pages complete?",
        holds=lambda row: row.verdict is Verdict.WRONG,
        columns=("wanted", "answer"),
        cells=lambda row: (row.wanted, beginning(row.answer)),
    ),
    Listed(
        heading="Right page, and a fact is missing",
        note="Another part of the page was shown, or the fact was said in other words.",
        holds=lambda row: row.verdict is Verdict.PAGE,
        columns=("wanted", "answer"),
        cells=lambda row: (row.wanted, beginning(row.answer)),
    ),
    Listed(
        heading="Ended in an error",
        note="These count as neither answered nor refused.",
        holds=lambda row: row.outcome == "error",
        columns=(),
        cells=lambda row: (),
    ),
)


def listed(rows: Sequence[QuestionRow], told: Listed) -> Section:
    found = [row for row in rows if told.holds(row)]
    table = Table(
        columns=("id", "question", *told.columns),
        rows=tuple((row.id, row.question, *told.cells(row)) for row in found[:LISTED]),
        numbers=frozenset({"confidence"}),
    )
    more = [f"And {len(found) - LISTED} more."] if len(found) > LISTED else []
    blocks: tuple[Block, ...] = (told.note, table, *more) if found else ()
    return Section(heading=f"{told.heading} ({len(found)})", blocks=blocks)
