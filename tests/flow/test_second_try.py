"""What the evidence does not support is written once more, within the deadline, or left out."""

from __future__ import annotations

from typing import Any

import pytest

from rag_core.agent.agent import Agent
from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.agent.config import AgentConfig
from rag_core.agent.model_events import FinishReason, ToolChoice
from rag_core.agent.prompts import NOT_COVERED
from rag_core.books.book import BookIds
from rag_core.conversation.question import Question
from rag_core.errors import UpstreamUnavailable
from tests.builders import a_thread
from tests.fakes.listening_progress import UNCHECKED, ListeningProgress
from tests.fakes.memory_retriever import MemoryRetriever, passage
from tests.fakes.scripted_model import Ending, Scripted, ScriptedModel, search

LIMITS = passage("Every member may upload ten files a day. A file may have at most 25 MB.")
WRONG = "A member may upload ten files a day [1]. A file may have at most 90 MB [1]."
RIGHT = "A member may upload ten files a day [1]. A file may have at most 25 MB [1]."
KEPT = "A member may upload ten files a day [1]."


async def answer(
    *replies: Scripted, progress: ListeningProgress | None = None, **config: Any
) -> tuple[AgentResponse, ScriptedModel]:
    model = ScriptedModel([search("upload files a day"), *replies])
    agent = Agent(
        model=model,
        retriever=MemoryRetriever([LIMITS]),
        config=AgentConfig(profile="simple", **({"rewrites": True} | config)),
    )
    answered = await agent.answer(
        Question(message="How many files may a member upload a day, and how large?"),
        state=a_thread(),
        books=BookIds(["handbook"]),
        audience=None,
        progress=progress or ListeningProgress(),
    )
    return answered.response, model


async def test_an_unsupported_sentence_is_named_and_written_once_more() -> None:
    response, model = await answer(WRONG, RIGHT)
    assert (
        response.answer
        == "A member may upload ten files a day [1]. A file may have at most 25 MB [1]."
    )
    assert model.choices[-1] is ToolChoice.NONE
    draft, fault = model.requests[-1][-2:]
    assert draft.content == WRONG
    assert (
        "- A file may have at most 90 MB.\n  90 MB is not in passage 1; it says 25 MB."
        in fault.content
    )
    assert "ten files" not in fault.content
    assert response.tokens_used == 60 + 120 + 120


async def test_there_is_one_more_try_and_no_other() -> None:
    response, model = await answer(WRONG, WRONG)
    assert response.answer == KEPT
    assert len(model.requests) == 3


async def test_an_answer_that_lost_something_is_not_plainly_completed() -> None:
    response, _ = await answer(WRONG, WRONG)
    assert response.outcome is Outcome.LOW_CONFIDENCE
    assert response.confidence_level is ConfidenceLevel.LOW
    assert [(each.text, each.reason) for each in response.removed] == [
        ("A file may have at most 90 MB.", "90 MB is not in passage 1; it says 25 MB.")
    ]


async def test_a_supported_answer_is_not_written_again() -> None:
    response, model = await answer(RIGHT)
    assert response.outcome is Outcome.COMPLETED
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    "second",
    [
        UpstreamUnavailable("openai"),
        Ending("A file may", None),
        Ending("A file may", FinishReason.LENGTH),
        NOT_COVERED,
        "The moon is made of cheese [1]. Captain Zorg says so [1].",
    ],
)
async def test_a_second_try_that_fails_leaves_the_first(second: Scripted) -> None:
    response, _ = await answer(WRONG, second)
    assert response.answer == KEPT


async def test_nothing_supported_at_first_may_become_an_answer() -> None:
    response, _ = await answer("A file may have at most 90 MB [1].", "At most 25 MB a file [1].")
    assert response.answer == "At most 25 MB a file [1]."


async def test_without_time_there_is_no_second_try() -> None:
    response, model = await answer(WRONG, answer_seconds=5.0)
    assert response.answer == KEPT
    assert len(model.requests) == 2


async def test_a_model_that_quotes_is_not_asked_again() -> None:
    response, model = await answer(WRONG, rewrites=False)
    assert response.answer == KEPT
    assert len(model.requests) == 2


async def test_the_second_try_replaces_what_was_shown() -> None:
    progress = ListeningProgress()
    response, _ = await answer(WRONG, RIGHT, progress=progress)
    assert "90" not in progress.shown[-1]
    assert response.answer.startswith(progress.drafts[-1])


async def test_what_is_not_checked_yet_says_so() -> None:
    progress = ListeningProgress()
    await answer(WRONG, RIGHT, progress=progress)
    assert progress.shown
    assert all(shown.startswith(UNCHECKED) for shown in progress.shown)
