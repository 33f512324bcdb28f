"""The figures that a measurement may hold: their names, and what each question adds to them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from rag_core.agent.answer import Outcome
from rag_core.evaluation.judging import ANSWERED, Verdict
from rag_core.evaluation.rows import QuestionRow
from rag_core.evaluation.run import Run

Gain = tuple[float, float]
"""What a question gained, and of how much: a figure is the one sum divided by the other."""
Gaining = Callable[[QuestionRow], Gain | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure. All of them are shares or scores from 0 to 1, and more is better."""

    name: str
    title: str
    part: str
    """The part of a run that holds it."""
    field: str
    tells: str
    gain: Gaining | None = None
    """None: it is no mean over questions."""

    def of(self, run: Run) -> float | None:
        """None: it was not measured, or there was no question for it."""
        part = getattr(run, self.part)
        found: float | None = None if part is None else getattr(part, self.field)
        return found


def scored(field: str) -> Gaining:
    def gain(row: QuestionRow) -> Gain | None:
        score: float | None = getattr(row, field)
        return None if score is None else (score, 1.0)

    return gain


def is_answered(row: QuestionRow) -> bool:
    return row.outcome in ANSWERED


def came_to(wanted: Collection[Outcome], *, answerable: bool) -> Gaining:
    """How often it came to that with the questions that have an answer, or have none."""

    def gain(row: QuestionRow) -> Gain | None:
        if row.outcome is None or row.answerable is not answerable:
            return None
        return float(row.outcome in wanted), 1.0

    return gain


def cited(gained: Callable[[Sequence[bool]], Gain]) -> Gaining:
    """What the footnotes gained, each told by whether its page is a relevant one."""

    def gain(row: QuestionRow) -> Gain | None:
        if row.cited is None or not row.relevant_ids:
            return None
        return gained([page in row.relevant_ids for page in row.cited])

    return gain


def with_gold(row: QuestionRow) -> Gain | None:
    return None if row.has_gold is None else (float(row.has_gold), 1.0)


def judged_as(*verdicts: Verdict, answerable: bool) -> Gaining:
    """How often the answer to a question that is covered, or is not, was judged to be so."""

    def gain(row: QuestionRow) -> Gain | None:
        if row.verdict is None or row.answerable is not answerable:
            return None
        return float(row.verdict in verdicts), 1.0

    return gain


FIGURES = (
    Figure(
        name="ndcg", title="nDCG@10", part="retrieval", field="ndcg_at_10",
        tells="relevant pages among the first ten, those on top counting most",
        gain=scored("ndcg_at_10"),
    ),
    Figure(
        name="recall", title="Recall@5", part="retrieval", field="recall_at_5",
        tells="share of the relevant pages among the first five",
        gain=scored("recall_at_5"),
    ),
    Figure(
        name="mrr", title="MRR@10", part="retrieval", field="mrr_at_10",
        tells="one over the place of the first relevant page",
        gain=scored("mrr_at_10"),
    ),
    Figure(
        name="answered", title="answered", part="refusal", field="answer_rate",
        tells="share of the answerable questions that got an answer",
        gain=came_to(ANSWERED, answerable=True),
    ),
    Figure(
        name="refused", title="refused", part="refusal", field="refusal_rate",
        tells="share of the questions without an answer that were refused",
        gain=came_to({Outcome.NO_RESULTS}, answerable=False),
    ),
    Figure(
        name="auc", title="AUC of confidence", part="refusal", field="confidence_auc",
        tells="how often an answerable question is trusted more than another; 0.5 is chance",
    ),
    Figure(
        name="precision", title="cited pages relevant", part="citations", field="precision",
        tells="share of all cited pages that are relevant ones",
        gain=cited(lambda right: (float(sum(right)), float(len(right)))),
    ),
    Figure(
        name="right_first", title="right page first", part="citations", field="right_page_first",
        tells="the first footnote leads to a relevant page",
        gain=cited(lambda right: (float(right[:1] == [True]), 1.0)),
    ),
    Figure(
        name="gold", title="gold in reply", part="citations", field="gold_in_reply",
        tells="a gold answer stands in the reply, word for word",
        gain=with_gold,
    ),
    Figure(
        name="right", title="right", part="answers", field="right",
        tells="share of the covered questions whose answer has every fact and cites a right page",
        gain=judged_as(Verdict.RIGHT, answerable=True),
    ),
    Figure(
        name="right_or_page", title="right or right page", part="answers", field="right_or_page",
        tells="the same, and those that cite a right page although a fact is missing",
        gain=judged_as(Verdict.RIGHT, Verdict.PAGE, answerable=True),
    ),
    Figure(
        name="not_certain", title="not covered, not certain", part="answers", field="not_certain",
        tells="share of the questions that are not covered that were refused or got a caution",
        gain=judged_as(Verdict.REFUSED, Verdict.CAUTIONED, answerable=False),
    ),
    Figure(
        name="kept", title="claims kept", part="claims", field="kept",
        tells="share of the supported claims that reach the reader",
    ),
    Figure(
        name="caught", title="claims caught", part="claims", field="caught",
        tells="share of the claims without support that are removed or marked",
    ),
)  # fmt: skip


def shown(value: float | None) -> str:
    """With three places; a dash for what nobody asked."""
    return "–" if value is None else f"{value:.3f}"
