"""Every question of a set, with what was found and answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag_core.agent.answer import Outcome
from rag_core.evaluation.answer_quality import Given, cited_pages, has_gold
from rag_core.evaluation.question_set import QuestionSet
from rag_core.evaluation.retrieval_quality import Ranked
from rag_core.evaluation.run import SHOWN_PAGES, QuestionRow


def rows_of(
    question_set: QuestionSet,
    *,
    ranked: Sequence[Ranked] = (),
    given: Sequence[Given] = (),
    pages: Mapping[str, str],
) -> tuple[QuestionRow, ...]:
    """In the set's order. `pages`: which page each passage belongs to."""
    found = {id(one.question): one for one in ranked}
    answers = {id(one.question): one for one in given}
    rows = []
    for question in question_set.questions:
        row = QuestionRow(
            id=question.id,
            question=question.question,
            answerable=question.answerable,
            relevant_ids=tuple(sorted(question.relevant_ids)),
        )
        if id(question) in found:
            row = searched(row, found[id(question)])
        if id(question) in answers:
            row = asked(row, answers[id(question)], pages)
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


def asked(row: QuestionRow, given: Given, pages: Mapping[str, str]) -> QuestionRow:
    response, question = given.response, given.question
    return replace(
        row,
        outcome=response.outcome if response else Outcome.ERROR,
        confidence=response.confidence if response else None,
        cited=tuple(cited_pages(given, pages)),
        has_gold=has_gold(given) if question.answerable and question.gold_answers else None,
    )
