"""Every question of a set, with what was found and answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_core.agent.answer import Outcome
from rag_core.evaluation.answer_quality import Given, has_gold
from rag_core.evaluation.judging import Verdict, judged
from rag_core.evaluation.question_set import QuestionSet, SetQuestion
from rag_core.evaluation.retrieval_quality import Ranked

SHOWN_PAGES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """One question, and what was found and answered; None: that was not measured."""

    id: str
    question: str
    answerable: bool
    set: str = ""
    kind: str = ""
    relevant_ids: tuple[str, ...] = ()
    found: tuple[str, ...] | None = None
    """The first pages, best first."""
    ndcg_at_10: float | None = None
    recall_at_5: float | None = None
    mrr_at_10: float | None = None
    outcome: Outcome | None = None
    confidence: float | None = None
    cited: tuple[str, ...] | None = None
    """The pages of the footnotes, each once, in their order."""
    has_gold: bool | None = None
    verdict: Verdict | None = None
    """By the facts that a right answer has; None also where the set names none."""
    words: int | None = None
    focus: float | None = None
    answer: str = ""
    wanted: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The same in every run: a question that was worded anew is another one."""
        return self.id, self.question


def rows_of(
    question_set: QuestionSet, *, ranked: Sequence[Ranked] = (), given: Sequence[Given] = ()
) -> tuple[QuestionRow, ...]:
    """In the set's order."""
    found = {id(one.question): one for one in ranked}
    answers = {id(one.question): one for one in given}
    rows = []
    for question in question_set.questions:
        row = QuestionRow(
            id=question.id,
            question=question.question,
            answerable=question.answerable,
            set=question_set.name,
            kind=question.kind,
            relevant_ids=tuple(sorted(question.relevant_ids)),
        )
        if id(question) in found:
            row = searched(row, found[id(question)])
        if id(question) in answers:
            row = asked(row, answers[id(question)])
        rows.append(row)
    return tuple(rows)


def searched(row: QuestionRow, ranked: Ranked) -> QuestionRow:
    return replace(
        row,
        found=ranked.pages[:SHOWN_PAGES],
        ndcg_at_10=ranked.ndcg_at_10,
        recall_at_5=ranked.recall_at_5,
        mrr_at_10=ranked.mrr_at_10,
    )


def asked(row: QuestionRow, given: Given) -> QuestionRow:
    response, question = given.response, given.question
    row = replace(
        row,
        outcome=response.outcome if response else Outcome.ERROR,
        confidence=response.confidence if response else None,
        cited=given.cited,
        has_gold=has_gold(given) if question.answerable and question.gold_answers else None,
        answer=response.answer if response else "",
        wanted=question.wanted,
    )
    if not can_be_judged(question):
        return row
    if response is None:  # nothing was answered
        return replace(row, verdict=Verdict.REFUSED)
    found = judged(question, response, given.cited)
    return replace(row, verdict=found.verdict, words=found.words, focus=found.focus)


def can_be_judged(question: SetQuestion) -> bool:
    """Whether it is told what a right answer has, or that there is none."""
    return bool(question.must) or not question.answerable
