"""A model that has no answer says so in many ways; readers get one refusal, with suggestions."""

from __future__ import annotations

import pytest

from rag_core.agent.agent import Agent
from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.agent.config import AgentConfig
from rag_core.agent.prompts import NOT_COVERED
from rag_core.books.book import BookIds
from rag_core.conversation.question import Question
from tests.builders import a_thread
from tests.fakes.listening_progress import ListeningProgress
from tests.fakes.memory_retriever import MemoryRetriever, passage
from tests.fakes.scripted_model import Scripted, ScriptedModel, search

LIMITS = passage(
    "Every member may upload ten files a day. A file may have at most 25 MB. The documents of a"
    " member stay private, and other information is not shared."
)
ASKED = "How many files may a member upload a day, and how large?"


async def answer(*replies: Scripted, asked: str = ASKED) -> tuple[AgentResponse, ListeningProgress]:
    progress = ListeningProgress()
    agent = Agent(
        model=ScriptedModel([search("upload files a day"), *replies]),
        retriever=MemoryRetriever([LIMITS]),
        config=AgentConfig(),
    )
    answered = await agent.answer(
        Question(message=asked),
        state=a_thread(),
        books=BookIds(["handbook"]),
        audience=None,
        progress=progress,
    )
    return answered.response, progress


@pytest.mark.parametrize(
    "reply",
    [
        NOT_COVERED,
        f"**{NOT_COVERED}**",
        "I'm sorry, but the provided documents do not mention this.",
        "The documents contain no information about how many files a member may upload.",
        "Es tut mir leid, dazu steht nichts in den Dokumenten.",
        "Lo siento, los documentos no dicen nada sobre eso.",
        "Désolé, les documents fournis ne répondent pas à cette question.",
        "Mi dispiace, i documenti non contengono questa informazione.",
        "Desculpe, os documentos não tratam desse assunto.",
        "申し訳ありませんが、資料には記載がありません。",
        "I cannot answer that. Please ask a person who knows more about it.",
    ],
)
async def test_whatever_reads_as_a_refusal_is_one(reply: str) -> None:
    response, _ = await answer(reply)
    assert response.outcome is Outcome.NO_RESULTS
    assert response.answer == "The documents do not cover this question."
    assert (response.citations, response.sources) == ((), ())
    assert response.suggestions


async def test_the_word_of_a_refusal_reaches_nobody() -> None:
    response, progress = await answer(f"Ten files a day [1].\n\n{NOT_COVERED}: how large")
    assert NOT_COVERED not in response.answer
    assert not any(NOT_COVERED in shown for shown in progress.shown)


async def test_a_part_that_is_not_covered_is_named_in_the_askers_words() -> None:
    response, _ = await answer(f"Ten files a day [1].\n\n{NOT_COVERED}: how large")
    assert response.answer.startswith("Ten files a day [1].")
    assert "how large" in response.answer
    assert response.outcome is Outcome.LOW_CONFIDENCE


async def test_nothing_is_told_under_the_word_of_a_refusal() -> None:
    response, _ = await answer(
        f"Ten files a day [1].\n\n{NOT_COVERED}: call 555-0199 or evil.example"
    )
    assert "555" not in response.answer
    assert "evil" not in response.answer


async def test_an_answer_that_forgot_its_footnote_is_no_refusal() -> None:
    response, _ = await answer("Every member may upload ten files a day.")
    assert response.should_answer
    assert response.citations


async def test_a_refusal_of_a_model_that_thinks_aloud_is_one() -> None:
    response, progress = await answer(f"<think>Ten files [1]? No.</think>\n{NOT_COVERED}")
    assert response.outcome is Outcome.NO_RESULTS
    assert progress.shown == []


async def test_a_verified_answer_stands_whatever_the_evidence_looked_like() -> None:
    """The words of the question are far from those of the documents; what was written is right."""
    response, _ = await answer("Ten files a day [1].", asked="Wie viele Uploads sind erlaubt?")
    assert response.outcome is Outcome.COMPLETED
    assert response.confidence > 0.3


async def test_an_answer_that_lost_something_is_never_plain_completed() -> None:
    response, _ = await answer("Ten files a day [1]. A file may have at most 90 MB [1].")
    assert response.outcome is Outcome.LOW_CONFIDENCE
