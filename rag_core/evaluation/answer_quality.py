"""Asks an agent a question set's questions and measures what it answers, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Protocol

from rag_core.agent.agent import AgentAnswer
from rag_core.agent.answer import AgentResponse
from rag_core.agent.language.words import words
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.conversation.message import Role
from rag_core.conversation.question import MAX_QUESTION, Question
from rag_core.conversation.state import ConversationState
from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import FootnoteError
from rag_core.evaluation.measures import auc
from rag_core.evaluation.question_set import QuestionSet, SetQuestion
from rag_core.evaluation.retrieval_quality import BOOK, Told, cut_page
from rag_core.evaluation.threads import thread_before, with_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One question of a set, and what the agent made of it; none: it ended in an error."""

    question: SetQuestion
    response: AgentResponse | None
    cited: tuple[str, ...] = ()
    """The pages of the footnotes, each once, in their order."""

    @property
    def is_answered(self) -> bool:
        return self.response is not None and self.response.should_answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalQuality:
    """Whether what the pages answer is answered, and what they do not answer is refused."""

    answerable: int
    answer_rate: float | None
    unanswerable: int
    refusal_rate: float | None
    confidence_auc: float | None
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationQuality:
    """Whether answers cite the right pages and hold what they should."""

    cited_answers: int
    precision: float | None
    """Which share of all cited pages are relevant ones."""
    questions: int
    right_page_first: float | None
    """Of all questions with relevant pages: the answer's first footnote leads to one of them."""
    questions_with_gold: int
    gold_in_reply: float | None


class Answers(Protocol):
    """Whoever is asked: an agent."""

    async def answer(
        self,
        question: Question,
        *,
        state: ConversationState,
        books: BookIds,
        audience: Audience | None,
        progress: Progress,
    ) -> AgentAnswer: ...


class Silence:
    """Nobody looks on while a set is measured."""

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        """Not shown."""

    async def text(self, delta: str, *, restart: bool = False) -> None:
        """Not shown."""


async def given_answers(
    question_set: QuestionSet,
    agent: Answers,
    *,
    pages: Mapping[str, str],
    with_history: bool = True,
    told: Told = lambda done, of: None,
) -> list[Given]:
    """Every question asked once, each in a thread of its own. `pages`: which page each passage
    belongs to."""
    given = []
    for number, question in enumerate(question_set.questions, start=1):
        response = await answer_to(question, agent, with_history)
        cited = cited_pages(response, pages) if response else ()
        given.append(Given(question=question, response=response, cited=cited))
        told(number, len(question_set.questions))
    return given


async def answer_to(
    question: SetQuestion, agent: Answers, with_history: bool
) -> AgentResponse | None:
    """None: it ended in an error. The turns before a natural question are asked themselves; of
    other questions the set tells what was answered."""
    try:
        if not question.is_natural:
            state = thread_before(question if with_history else None)
            return (await ask(question.question, agent, state)).response
        state = thread_before(None)
        for said in question.history if with_history else ():
            if said.role is Role.USER:
                state = with_turn(state, (await ask(said.text, agent, state)).turn)
        return (await ask(question.question, agent, state)).response
    except FootnoteError:
        return None


async def ask(text: str, agent: Answers, state: ConversationState) -> AgentAnswer:
    return await agent.answer(
        Question(message=text[:MAX_QUESTION]),
        state=state,
        books=BookIds([BOOK]),
        audience=None,
        progress=Silence(),
    )


def refusal_quality(given: Sequence[Given]) -> RefusalQuality:
    answerable = [one for one in given if one.question.answerable]
    unanswerable = [one for one in given if not one.question.answerable]
    return RefusalQuality(
        answerable=len(answerable),
        answer_rate=share(one.is_answered for one in answerable) if answerable else None,
        unanswerable=len(unanswerable),
        refusal_rate=share(is_refused(one) for one in unanswerable) if unanswerable else None,
        confidence_auc=(
            auc(confidences(answerable), confidences(unanswerable))
            if answerable and unanswerable
            else None
        ),
        errors=sum(one.response is None for one in given),
    )


def is_refused(one: Given) -> bool:
    return one.response is not None and not one.response.should_answer


def confidences(given: Sequence[Given]) -> list[float]:
    return [one.response.confidence for one in given if one.response is not None]


def citation_quality(given: Sequence[Given]) -> CitationQuality:
    cited = [one for one in given if one.question.relevant_ids]
    right = [page in one.question.relevant_ids for one in cited for page in one.cited]
    first = [not one.question.relevant_ids.isdisjoint(one.cited[:1]) for one in cited]
    gold = [has_gold(one) for one in given if one.question.answerable and one.question.gold_answers]
    return CitationQuality(
        cited_answers=sum(bool(one.cited) for one in cited),
        precision=share(right) if right else None,
        questions=len(first),
        right_page_first=share(first) if first else None,
        questions_with_gold=len(gold),
        gold_in_reply=share(gold) if gold else None,
    )


def page_of_chunks(question_set: QuestionSet, now: datetime) -> Mapping[str, str]:
    """Which page each passage belongs to."""
    return {
        chunk.id: page.source_file for page in question_set.pages for chunk in cut_page(page, now)
    }


def cited_pages(response: AgentResponse, pages: Mapping[str, str]) -> tuple[str, ...]:
    """The pages of an answer's footnotes, each once, in their order."""
    found = (pages.get(citation.chunk_id, "") for citation in response.citations)
    return tuple(dict.fromkeys(found))


def has_gold(one: Given) -> bool:
    """Whether one of the right answers stands in the reply, word for word."""
    said = f" {' '.join(words(one.response.answer))} " if one.response else ""
    return any(f" {' '.join(words(gold))} " in said for gold in one.question.gold_answers)


def share(outcomes: Iterable[bool]) -> float:
    return fmean(map(float, outcomes))
