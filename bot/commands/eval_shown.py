"""What footnote eval shows: tables in the terminal, reports in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bot.output import counted, notices, terminal
from rag_core.errors import ConfigurationError, FootnoteError
from rag_core.evaluation import report_blocks
from rag_core.evaluation.answer_report import CLAIM_COLUMNS, answer_tables, table_of
from rag_core.evaluation.comparison import Comparison
from rag_core.evaluation.comparison_report import (
    COLUMNS,
    HOW_TO_READ,
    movement_row,
    turned_row,
    uneven,
)
from rag_core.evaluation.figures import shown
from rag_core.evaluation.html_report import html_of
from rag_core.evaluation.markdown_report import markdown_of
from rag_core.evaluation.report import rerank_note
from rag_core.evaluation.report_blocks import Report
from rag_core.evaluation.run import Run

FIGURES: Mapping[str, Mapping[str, str]] = {
    "retrieval": {
        "nDCG@10": "ndcg_at_10",
        "Recall@5": "recall_at_5",
        "MRR@10": "mrr_at_10",
    },
    "refusal": {
        "answerable": "answerable",
        "answered": "answer_rate",
        "not answerable": "unanswerable",
        "refused": "refusal_rate",
        "AUC of confidence": "confidence_auc",
        "errors": "errors",
    },
    "citations": {
        "answers with footnotes": "cited_answers",
        "cited pages relevant": "precision",
        "right page first": "right_page_first",
        "gold answers": "questions_with_gold",
        "gold in reply": "gold_in_reply",
    },
}
"""What each table shows, and the figure's name in the document."""
FORMS: Mapping[str, Callable[[Report], str]] = {
    ".md": markdown_of,
    ".html": html_of,
}
"""How a report is written, by the ending of its file's name."""
TURNED = 20
"""Questions that changed, in the terminal; a report and the document hold more."""


def check_reports(files: Sequence[Path]) -> None:
    """Before anything is measured: a slip in a name must not cost an hour."""
    for file in files:
        if file.suffix not in FORMS:
            raise ConfigurationError(f"--report was {str(file)!r}; it ends in .md or .html.")
        folder = file.absolute().parent
        if not os.path.isdir(folder):  # also one that may not be looked for
            raise ConfigurationError(f"--report: there is no folder {folder}.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ConfigurationError(f"--report: this user may not write into {folder}.")


def write_reports(report: Report, files: Sequence[Path]) -> None:
    """Blocks."""
    for file in files:
        try:
            file.write_text(FORMS[file.suffix](report), encoding="utf-8")
        except OSError as error:
            raise FootnoteError(f"{file} cannot be written ({error.strerror}).") from error
        notices().print(f"The report stands in {file}.", soft_wrap=True)


def show(run: Run) -> None:
    console = terminal()
    console.print(setup_line(run))
    for note in rerank_note(run):
        console.print(note)
    for part, columns in FIGURES.items():
        figures = getattr(run, part)
        if figures is not None:
            cells = [figure(getattr(figures, name)) for name in columns.values()]
            console.print(table(tuple(columns), [cells]))
    if run.answers is not None:
        for each in answer_tables(run):
            console.print(as_drawn(each))
    if run.claims is not None:
        parts = run.claims_by_kind or {}
        console.print(as_drawn(table_of("kind", CLAIM_COLUMNS, parts, run.claims)))


def as_drawn(found: report_blocks.Table) -> Table:
    """A table of a report, for the terminal; narrow, so that many columns find room."""
    drawn = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in found.columns:
        drawn.add_column(heading, justify="right" if heading in found.numbers else "left")
    for row in found.rows:
        drawn.add_row(*row)
    return drawn


def setup_line(run: Run) -> str:
    names = [run.question_set, counted(run.pages, "page")]
    if run.retrieval:
        names.append(f"{counted(run.retrieval.questions, 'question')} with relevant pages")
    names += [f"history {run.history}", run.embedding_model]
    names.append(f"reranked by {run.rerank.model}" if run.rerank else "not reranked")
    names += [f"{run.model} model, {run.profile}"] if run.model else []
    names += [f"verifier {run.verifier}"] if run.verifier else []
    return ", ".join(names)


def show_comparison(found: Comparison) -> None:
    console = terminal()
    for name, before, after in found.setup_changes:
        console.print(f"{name}: {before} → {after}")
    for note in uneven(found):
        console.print(note)
    console.print(movements(found))
    console.print(f"\n{HOW_TO_READ}")
    show_turned(found, console)


def show_turned(found: Comparison, console: Console) -> None:
    if not found.turned:
        console.print("\nNo question changed.")
        return
    console.print(f"\n{len(found.turned)} questions changed, losses first:")
    for one in found.turned[:TURNED]:
        name, question, before, after, moved = turned_row(one)
        ended = "" if before == after else f" {before} → {after}."
        console.print(f"  {name}  {question}\n      {moved}.{ended}")
    if len(found.turned) > TURNED:
        console.print(f"  and {len(found.turned) - TURNED} more; --report and --json tell all.")


def movements(found: Comparison) -> Table:
    """Without lines, so that it stands in 80 columns; the chance is in reports and documents."""
    drawn = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    kept = [name for name in COLUMNS if name != "by chance"]
    for heading in kept:
        drawn.add_column(
            {"better": "+", "worse": "−"}.get(heading, heading),
            justify="left" if heading in {"figure", "verdict"} else "right",
            no_wrap=True,
        )
    for one in found.movements:
        cells = dict(zip(COLUMNS, movement_row(one), strict=True))
        drawn.add_row(*(cells[name] for name in kept))
    return drawn


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    drawn = Table()
    for heading in columns:
        drawn.add_column(heading, justify="right")
    for row in rows:
        drawn.add_row(*row)
    return drawn


def figure(value: float | None) -> str:
    """A count as it is, a share or a score with three places."""
    return str(value) if isinstance(value, int) else shown(value)
