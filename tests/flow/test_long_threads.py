"""A thread of many turns stays coherent without a language model."""

from __future__ import annotations

from dataclasses import replace

from rag_core.agent.agent import SECTION, STANDALONE, Agent
from rag_core.agent.config import AgentConfig
from rag_core.books.book import BookIds
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState, Turn
from tests.builders import a_thread
from tests.fakes.listening_progress import ListeningProgress
from tests.fakes.memory_retriever import MemoryRetriever, passage

GRIPPERS = passage(
    "| Gripper | For | Grip force |\n|---|---|---|\n| Soft fingers | fruit, eggs | up to 8 N |\n"
    "| Parallel jaws | pan handles, boxes | up to 60 N |\n| Suction cup | plates | up to 25 N |",
    title="Grippers",
    heading="Three grippers",
)
VACATION = passage(
    "Everybody has 30 days of vacation a year. In the first year it is 2.5 days for every full"
    " month. Up to 5 days may be carried into the next year.",
    title="Vacation",
    heading="How much",
)
HOTELS = passage(
    "A hotel night may cost 140 euros. In London it may cost 190 euros. Meals need a receipt.",
    title="Expenses",
    heading="Limits",
)
THREAD = [
    ("Which gripper is for eggs?", "Soft fingers"),
    ("And for plates?", "Suction cup"),
    ("What about boxes?", "Parallel jaws"),
    ("Thanks!", "welcome"),
    ("How many days of vacation does everybody have a year?", "30 days"),
    ("And in the first year?", "2.5 days"),
    ("How many may be carried into the next year?", "5 days"),
    ("hello", "Hello"),
    ("How much may a hotel night cost?", "140 euros"),
    ("And in London?", "190 euros"),
    ("What about meals?", "receipt"),
    ("How many days of vacation may be carried into the next year?", "5 days"),
    ("Which gripper is for plates?", "Suction cup"),
    ("And eggs?", "Soft fingers"),
]


def after(state: ConversationState, turn: Turn) -> ConversationState:
    said = tuple(message for message in turn.messages if not message.tool_calls)
    return replace(
        state,
        messages=(*state.messages, said[0], said[-1]),
        turn_count=state.turn_count + 1,
        topic_summary=turn.topic_summary or state.topic_summary,
        metadata={**state.metadata, **turn.metadata},
    )


async def test_fourteen_turns_over_three_topics_are_answered_each_by_its_own() -> None:
    agent = Agent(
        model=None,
        retriever=MemoryRetriever([GRIPPERS, VACATION, HOTELS]),
        config=AgentConfig(profile="simple"),
    )
    state = a_thread()
    for question, expected in THREAD:
        answered = await agent.answer(
            Question(message=question),
            state=state,
            books=BookIds(["handbook"]),
            audience=None,
            progress=ListeningProgress(),
        )
        assert expected in answered.response.answer, question
        assert answered.turn is not None
        state = after(state, answered.turn)
    assert "eggs" in state.topic_summary, "the newest topic stands first"
    assert "And eggs?" in state.metadata[STANDALONE]
    assert state.metadata[SECTION] == "Grippers › Three grippers", "what follows leads on from it"
