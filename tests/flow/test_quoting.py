"""Without a language model the agent quotes what answers, shows what comes nearest, or refuses."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_core.agent.agent import ESTIMATE, Agent, AgentAnswer
from rag_core.agent.answer import Outcome
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.agent.config import AgentConfig
from rag_core.agent.manner import Manner
from rag_core.agent.passages import questions_in
from rag_core.books.book import BookIds
from rag_core.conversation.message import Role
from rag_core.conversation.question import Question
from rag_core.desk.progress import QuestionState
from rag_core.errors import UpstreamUnavailable
from rag_core.ports import Reading
from rag_core.reading.units import SectionUnits
from rag_core.reading.words import WordReader
from tests.builders import a_thread
from tests.fakes.listening_progress import ListeningProgress
from tests.fakes.memory_retriever import MemoryRetriever, passage
from tests.fakes.sections import judge_by_words

LIMITS = passage("Every member may upload ten files a day. A file may have at most 25 MB.")
INVITES = passage(
    "A member invites guests from the members page. Guests stay for 30 days.",
    heading="Guests",
    url="https://docs.example.com/handbook#guests",
)
BOOKS = BookIds(["handbook"])
ASKED = "How many files may a member upload a day?"


class SureReader(WordReader):
    """Reads by words; how surely a section holds the answer is what the test says."""

    def __init__(self, answered: float) -> None:
        self._answered = answered
        self.asked: list[str] = []

    async def read(self, question: str, sections: Sequence[SectionUnits]) -> Sequence[Reading]:
        self.asked.append(question)
        read = await super().read(question, sections)
        return [Reading(each.relevance, self._answered, each.units) for each in read]


async def ask(
    text: str = ASKED,
    *,
    answered: float = 1.0,
    retriever: MemoryRetriever | None = None,
    progress: ListeningProgress | None = None,
    manner: Manner | None = None,
    locale: str = "en",
) -> AgentAnswer:
    agent = Agent(
        model=None,
        retriever=retriever or MemoryRetriever([LIMITS, INVITES]),
        config=AgentConfig(),
        judge=judge_by_words(SureReader(answered)),
    )
    return await agent.answer(
        Question(message=text),
        state=a_thread(),
        books=BOOKS,
        audience=None,
        progress=progress or ListeningProgress(),
        locale=locale,
        manner=manner or Manner(),
    )


async def test_the_answer_is_the_passage_with_its_words_marked() -> None:
    answered = await ask()
    response = answered.response
    assert response.outcome is Outcome.COMPLETED
    assert response.answer.startswith("**Handbook › Limits** [1]\n> Every member may upload ten")
    assert response.marks[0].quote == "Every member may upload ten files a day."
    assert response.citations[0].content_hash == LIMITS.content_hash
    assert (response.model, response.tokens_used) == ("quoting", 0)
    assert [source.page_title for source in response.sources] == ["Handbook"] * 2


async def test_where_it_is_not_sure_it_says_so_and_shows_what_comes_nearest() -> None:
    response = (await ask(answered=0.45)).response
    assert response.outcome is Outcome.LOW_CONFIDENCE
    assert response.confidence_level is ConfidenceLevel.LOW
    assert response.should_answer
    assert response.answer.startswith("I found no clear answer. These sections come nearest:")
    assert "ten files a day" in response.answer
    assert len(response.citations) == len(response.marks) == 2


async def test_where_nothing_is_near_it_refuses_with_suggestions() -> None:
    response = (await ask(answered=0.1)).response
    assert response.outcome is Outcome.NO_RESULTS
    assert response.citations == response.marks == ()
    assert response.answer == "The documents do not cover this question."
    assert response.suggestions[0].section_heading == "Limits"


async def test_nothing_found_is_a_refusal() -> None:
    response = (await ask(retriever=MemoryRetriever([]))).response
    assert response.outcome is Outcome.NO_RESULTS
    assert response.confidence == 0.0


async def test_two_questions_are_searched_each_and_answered_both() -> None:
    retriever = MemoryRetriever([LIMITS, INVITES])
    both = "How many files may a member upload? And how long do guests stay?"
    response = (await ask(both, retriever=retriever)).response
    assert [query.text for query in retriever.asked] == [
        "How many files may a member upload?",
        "And how long do guests stay?",
    ]
    assert retriever.earlier[1] == ("How many files may a member upload?",)
    assert "ten files a day" in response.answer
    assert "30 days" in response.answer


@pytest.mark.parametrize(
    ("message", "questions"),
    [
        ("How do I start?", ["How do I start?"]),
        ("It is broken. How do I start it?", ["It is broken. How do I start it?"]),
        ("How do I start it? It is broken.", ["How do I start it? It is broken."]),
        ("Wie starte ich? Was kostet es?", ["Wie starte ich?", "Was kostet es?"]),
        ("如何安装这个程序？ 如何升级这个程序？", ["如何安装这个程序？", "如何升级这个程序？"]),
        ("How do I start? Really?", ["How do I start? Really?"]),
        ("See https://x.example/?a=b for how it starts?", None),
        ("a b c d? e f g h i? j k l m n? o p q r s t? u v w x y z?", None),
    ],
)
def test_questions_are_told_apart_at_question_marks(
    message: str, questions: list[str] | None
) -> None:
    assert list(questions_in(message)) == (questions or [message])


async def test_the_thread_remembers_the_search_and_what_the_confidence_came_from() -> None:
    turn = (await ask()).turn
    assert turn is not None
    roles = [message.role for message in turn.messages]
    assert roles == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert [record.query for record in turn.retrievals] == [ASKED]
    assert turn.metadata[ESTIMATE]["level"] == "high"
    assert turn.metadata[ESTIMATE]["features"]["best_answered"] == 1.0
    assert "upload" not in str(turn.metadata[ESTIMATE]), "figures, and nobody's words"


async def test_it_tells_how_far_it_is() -> None:
    progress = ListeningProgress()
    response = (await ask(progress=progress)).response
    assert progress.stages == [QuestionState.RETRIEVING, QuestionState.GENERATING]
    assert response.answer.startswith(progress.shown[-1])
    assert "ten files a day" in progress.shown[-1]


async def test_for_assignments_it_names_the_sections_and_quotes_nothing() -> None:
    response = (await ask(manner=Manner(hint_only=True))).response
    assert "ten files" not in response.answer
    assert "Handbook › Limits [1]" in response.answer
    assert response.marks == ()
    assert all("ten files" not in source.chunk_text for source in response.sources)


async def test_the_asker_is_answered_in_their_language() -> None:
    response = (
        await ask("Wie viele files upload member am day?", answered=0.45, locale="de")
    ).response
    assert response.answer.startswith("Eine klare Antwort habe ich nicht gefunden.")


async def test_small_talk_is_not_searched_for() -> None:
    retriever = MemoryRetriever([LIMITS])
    response = (await ask("Hello!", retriever=retriever)).response
    assert (response.outcome, retriever.asked) == (Outcome.COMPLETED, [])


async def test_an_index_that_fails_is_an_error_and_no_refusal() -> None:
    retriever = MemoryRetriever([LIMITS], failure=UpstreamUnavailable("qdrant"))
    with pytest.raises(UpstreamUnavailable):
        await ask(retriever=retriever)
