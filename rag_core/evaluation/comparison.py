"""Two runs side by side: which figures moved, by how much, and which questions moved them."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.errors import ConfigurationError
from rag_core.evaluation.figures import FIGURES, Figure, Gain, is_answered
from rag_core.evaluation.noise import Difference, difference
from rag_core.evaluation.rows import QuestionRow
from rag_core.evaluation.run import Run, rows_by_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """One figure in both runs, over the questions that both have."""

    figure: Figure
    questions: int
    better: int
    worse: int
    found: Difference

    @property
    def verdict(self) -> str:
        if self.better == self.worse == 0:
            return "the same"
        if self.found.is_noise:
            return "within noise"
        return "better" if self.found.size > 0 else "worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    """A question whose outcome is another one now."""

    before: QuestionRow
    after: QuestionRow
    by: tuple[tuple[str, float, float], ...]
    """Title of a figure, its value before and after."""

    @property
    def size(self) -> float:
        """For sorting: what is lost comes first."""
        return sum(after - before for _, before, after in self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changed from one run to another."""

    before: Run
    after: Run
    movements: tuple[Movement, ...]
    turned: tuple[Turned, ...]
    only_before: int
    only_after: int

    @property
    def setup_changes(self) -> list[tuple[str, str, str]]:
        """What was set up differently: name, before, after."""
        after = self.after.setup
        return [
            (name, value, after[name])
            for name, value in self.before.setup.items()
            if value != after[name]
        ]


def compared(before: Run, after: Run) -> Comparison:
    rows = rows_by_key(after.questions)
    pairs = [(row, rows[key]) for key, row in rows_by_key(before.questions).items() if key in rows]
    if not pairs:
        raise ConfigurationError(
            "The two runs have no question in common: nothing can be compared. A question is the"
            " same when its id and its words are."
        )
    turned = [changed for each in pairs if (changed := turn_of(*each))]
    return Comparison(
        before=before,
        after=after,
        movements=tuple(one for figure in FIGURES if (one := movement(figure, pairs))),
        turned=tuple(sorted(turned, key=lambda one: one.size)),
        only_before=len(rows_by_key(before.questions)) - len(pairs),
        only_after=len(rows) - len(pairs),
    )


def movement(figure: Figure, pairs: list[tuple[QuestionRow, QuestionRow]]) -> Movement | None:
    """None: one of the runs did not measure this figure, or it is no mean."""
    both = [
        (*was, *now)
        for before, after in pairs
        if (was := gain(figure, before)) and (now := gain(figure, after))
    ]
    found = difference(both) if both else None
    if found is None:
        return None
    steps = [share(now, now_of) - share(was, was_of) for was, was_of, now, now_of in both]
    return Movement(
        figure=figure,
        questions=len(both),
        better=sum(step > 0 for step in steps),
        worse=sum(step < 0 for step in steps),
        found=found,
    )


def gain(figure: Figure, row: QuestionRow) -> Gain | None:
    return figure.gain(row) if figure.gain else None


def share(gained: float, of: float) -> float:
    return gained / of if of else 0.0


def turn_of(before: QuestionRow, after: QuestionRow) -> Turned | None:
    by = []
    for figure in FIGURES:
        was, now = gain(figure, before), gain(figure, after)
        if was and now and share(*was) != share(*now):
            by.append((figure.title, share(*was), share(*now)))
    return Turned(before=before, after=after, by=tuple(by)) if by else None


def outcome_words(row: QuestionRow) -> str:
    """How a question ended, for people."""
    if row.outcome is None:
        return "not asked"
    return "answered" if is_answered(row) else {"no_results": "refused"}.get(row.outcome, "error")
