"""A report on two runs: which figures moved, and which questions moved them."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.evaluation.comparison import Comparison, Movement, Turned, outcome_words
from rag_core.evaluation.figures import shown
from rag_core.evaluation.gates import Passage
from rag_core.evaluation.noise import SURE
from rag_core.evaluation.report import LISTED, gates_section
from rag_core.evaluation.report_blocks import Block, Report, Section, Spans, Table

COLUMNS = (
    "figure", "before", "after", "change", "range", "better", "worse", "by chance", "verdict",
)  # fmt: skip
HOW_TO_READ = (
    "Better and worse count questions. The range is where the difference would lie 95 times of 100"
    " with as many other questions (paired bootstrap). Where two equally good runs differ so much"
    f" more often than {SURE:.0%} of the time (paired randomisation), it is called noise."
)


def report_on_both(found: Comparison, passed: Sequence[Passage] = ()) -> Report:
    sections = [
        Section(heading="What was set up differently", blocks=(setup_block(found), *uneven(found))),
        gates_section(passed),
        Section(
            heading="Figures",
            blocks=(HOW_TO_READ, movement_table(found), spans_of(found.movements)),
        ),
        turned_section(found.turned),
    ]
    return Report(
        title=f"Two runs of {found.after.question_set}",
        sections=tuple(section for section in sections if section.blocks),
    )


def setup_block(found: Comparison) -> Block:
    if not found.setup_changes:
        return "Nothing that the documents tell of: the same set, models and options."
    return Table(columns=("what", "before", "after"), rows=tuple(found.setup_changes))


def uneven(found: Comparison) -> list[str]:
    """Questions that only one run has are left out, and that is said."""
    if not found.only_before and not found.only_after:
        return []
    return [
        f"{found.only_before} questions are in the first run alone and {found.only_after} in the"
        " second alone; only those that both have are compared."
    ]


def movement_table(found: Comparison) -> Table:
    return Table(
        columns=COLUMNS,
        rows=tuple(map(movement_row, found.movements)),
        numbers=frozenset(COLUMNS[1:8]),
    )


def movement_row(one: Movement) -> tuple[str, ...]:
    change = one.found
    return (
        one.figure.title,
        shown(change.before),
        shown(change.after),
        signed(change.size),
        f"{signed(change.low)} to {signed(change.high)}",
        str(one.better),
        str(one.worse),
        f"{change.chance:.3f}",
        one.verdict,
    )


def signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def spans_of(movements: Sequence[Movement]) -> Spans:
    return Spans(
        title="Changes with their ranges; grey ones may be noise",
        rows=tuple(
            (one.figure.title, one.found.low, one.found.size, one.found.high, one.found.is_noise)
            for one in movements
        ),
    )


def turned_section(turned: Sequence[Turned]) -> Section:
    table = Table(
        columns=("id", "question", "before", "after", "what moved"),
        rows=tuple(map(turned_row, turned[:LISTED])),
    )
    more = [f"And {len(turned) - LISTED} more."] if len(turned) > LISTED else []
    blocks: tuple[Block, ...] = (table, *more) if turned else ("No question changed.",)
    return Section(heading=f"Questions that changed ({len(turned)}), losses first", blocks=blocks)


def turned_row(one: Turned) -> tuple[str, ...]:
    return (
        one.after.id,
        one.after.question,
        outcome_words(one.before),
        outcome_words(one.after),
        "; ".join(f"{title} {shown(was)} → {shown(now)}" for title, was, now in one.by),
    )
