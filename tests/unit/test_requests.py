"""What asks, what only acknowledges, what may be an answer, and what points at its context."""

from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.pastes import split_message
from rag_core.agent.requests import (
    ANSWER_THIS,
    asks_something,
    is_acknowledgement,
    is_real_question,
    points_at_context,
    states_something,
)

ASK = [
    "Where is the wiki?",
    "how do I log in",
    "¿cómo entro?",
    "wie melde ich mich an",
    "Hi, so what is the limit",
    "tell me the limits",
    "I need help with the gripper",
    "It still doesn't start.",
    "I get an error when I boot",
    "In work?",
    "thanks, but why?",
    "thank you, and in Python?",
    "Sure?",
    "really?",
]
ACKNOWLEDGE = [
    "Thanks!",
    "thank you so much",
    "ok, thanks a lot :)",
    "Great, thx",
    "Vielen Dank!",
    "perfect",
    "same here",
    "no idea, sorry",
    "+1 me too",
    "got it",
]
STATE = [
    "Sundays are free.",
    "fifty, as it says on the wall",
    "It is ten.",
    "ten, I think",
    "lunch is ready",
    "the limits stand in https://x.example/limits?page=2",
]
TALK = ["Good morning everyone", "Good morning everyone, how are you?", "hello", "👍", ""]


@pytest.mark.parametrize("text", ASK)
def test_what_asks_is_no_answer_and_no_acknowledgement(text: str) -> None:
    assert asks_something(text)
    assert not states_something(text)
    assert not is_acknowledgement(text)


@pytest.mark.parametrize("text", ACKNOWLEDGE)
def test_an_acknowledgement_asks_nothing_and_answers_nothing(text: str) -> None:
    assert is_acknowledgement(text)
    assert not asks_something(text)
    assert not states_something(text)


@pytest.mark.parametrize("text", STATE)
def test_a_statement_may_be_an_answer(text: str) -> None:
    assert states_something(text)
    assert not asks_something(text)


@pytest.mark.parametrize("text", TALK)
def test_small_talk_is_neither(text: str) -> None:
    assert not asks_something(text)
    assert not states_something(text)


@pytest.mark.parametrize(
    "text",
    [ANSWER_THIS, "do you know?", "any idea?", "help", "can anyone explain this please?", "??",
     "why?", "what does this error mean?", "kannst du das beantworten?", "@"],
)  # fmt: skip
def test_some_questions_mean_what_stands_beside_them(text: str) -> None:
    assert points_at_context(text)
    assert not is_real_question(text)


@pytest.mark.parametrize(
    "text",
    ["How do I calibrate the arm?", "What can you do?", "who are you?", "and older ones?",
     "how many a day?", "Can you help Ben with the gripper?"],
)  # fmt: skip
def test_other_questions_mean_themselves(text: str) -> None:
    assert not points_at_context(text)


@pytest.mark.parametrize("text", ["did you try turning it off?", "which version are you using?"])
def test_a_question_back_to_the_asker_is_not_for_the_documents(text: str) -> None:
    assert asks_something(text)
    assert not is_real_question(text)


@pytest.mark.parametrize(
    "text", ["?" * 40_000 + "a", "a" * 40_000, "hi " * 15_000, "so, " * 10_000 + "x", "(" * 40_000,
             "i am " * 8_000, "does not a a " * 4_000, "a://" * 10_000]
)  # fmt: skip
def test_no_message_takes_long_to_be_read(text: str) -> None:
    began = perf_counter()
    for read in (asks_something, is_acknowledgement, states_something, points_at_context):
        read(text)
    split_message(text)
    assert perf_counter() - began < 5.0, "no rule reads a text again from each of its places"


@given(st.text(alphabet="ok thanks?! iscanyouhelp this.,\n", max_size=2_000))
def test_a_message_is_one_thing_at_a_time(text: str) -> None:
    assert asks_something(text) + is_acknowledgement(text) + states_something(text) <= 1 or (
        asks_something(text) and "?" in text
    )
