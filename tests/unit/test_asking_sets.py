"""Questions of a set are asked as people ask them, and each part of answering shows its worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from rag_core.agent.agent import AgentAnswer
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.conversation.message import Role
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState
from rag_core.desk.progress import Progress
from rag_core.errors import AnswerTimedOut
from rag_core.evaluation.ablation import ablation_table
from rag_core.evaluation.answer_quality import given_answers
from rag_core.evaluation.judging import Verdict
from rag_core.evaluation.noise import auc_spread
from rag_core.evaluation.question_set import QuestionSet, Said, SetQuestion
from rag_core.evaluation.rows import QuestionRow, rows_of
from tests.builders import a_citation, a_response, a_turn

HISTORY = (
    Said(role=Role.USER, text="How long is tea steeped?"),
    Said(role=Role.ASSISTANT, text="As the set has it."),
)


@dataclass
class Parrot:
    """Answers everything alike, and remembers what it was asked after what."""

    heard: list[tuple[str, list[str]]] = field(default_factory=list)
    fails_at: str = ""

    async def answer(
        self,
        question: Question,
        *,
        state: ConversationState,
        books: BookIds,
        audience: Audience | None,
        progress: Progress,
    ) -> AgentAnswer:
        if question.message == self.fails_at:
            raise AnswerTimedOut("too late")
        self.heard.append((question.message, [turn[-1].content for turn in state.turns]))
        response = a_response("Two minutes [1].", citations=(a_citation(chunk_id="c1"),))
        turn = a_turn(state.session_id, question.message, f"Parrot: {question.message}")
        return AgentAnswer(response=response, turn=turn)


def a_set(**fields: bool) -> QuestionSet:
    asked = SetQuestion(
        id="1", question="And bread?", relevant_ids=frozenset({"tea.md"}), answerable=True,
        history=HISTORY, must=(("two minutes",),), **fields,
    )  # fmt: skip
    return QuestionSet(name="kitchen", pages=(), questions=(asked,))


async def test_the_turns_before_a_natural_question_are_asked_in_its_thread() -> None:
    parrot = Parrot()
    (given,) = await given_answers(a_set(is_natural=True), parrot, pages={"c1": "tea.md"})
    assert parrot.heard == [
        ("How long is tea steeped?", []),
        ("And bread?", ["Parrot: How long is tea steeped?"]),
    ]
    assert given.cited == ("tea.md",)
    parrot.heard.clear()
    await given_answers(a_set(is_natural=True), parrot, pages={}, with_history=False)
    assert parrot.heard == [("And bread?", [])]


async def test_of_other_questions_the_set_tells_what_was_answered() -> None:
    parrot = Parrot()
    await given_answers(a_set(), parrot, pages={})
    assert parrot.heard == [("And bread?", ["As the set has it."])]


@pytest.mark.parametrize("failing", ["How long is tea steeped?", "And bread?"])
async def test_an_answer_that_ends_in_an_error_answers_nothing(failing: str) -> None:
    asked = a_set(is_natural=True)
    given = await given_answers(asked, Parrot(fails_at=failing), pages={})
    (row,) = rows_of(asked, given=given)
    assert (row.outcome, row.verdict) == ("error", Verdict.REFUSED)


def rows(right: int, of: int) -> Sequence[QuestionRow]:
    return [
        QuestionRow(
            id=str(n), question="?", answerable=True, confidence=0.5,
            verdict=Verdict.RIGHT if n < right else Verdict.WRONG,
        )
        for n in range(of)
    ]  # fmt: skip


def test_a_part_is_worth_what_is_lost_without_it() -> None:
    variants = {"all": rows(30, 40), "without one": rows(10, 40), "without other": rows(29, 40)}
    table = ablation_table(variants, whole="all")
    whole, one, other = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (whole["right"], whole["right moved"]) == ("75 %", "")
    assert (one["right"], one["wrong"], one["right moved"]) == ("25 %", "75 %", "−50.0")
    assert (one["verdict"], other["verdict"]) == ("worse", "within noise")


def test_the_range_of_an_area_under_the_curve_narrows_with_more_questions() -> None:
    few = auc_spread([0.9, 0.6, 0.4, 0.8], [0.5, 0.3, 0.7, 0.1])
    many = auc_spread([0.9, 0.6, 0.4, 0.8] * 30, [0.5, 0.3, 0.7, 0.1] * 30)
    assert few
    assert many
    assert few[0] < many[0] < 13 / 16 < many[1] < few[1] <= 1.0
    assert auc_spread([], [0.5]) is None
