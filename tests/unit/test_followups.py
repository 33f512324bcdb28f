"""A short follow-up is joined with what it leans on; a new topic is left alone."""

from __future__ import annotations

import pytest

from rag_core.agent.followup import MAX_CARRIED, sought, standalone
from rag_core.conversation.message import Message
from tests.builders import NOON

ASKED = "How do I open a file in Rust?"
ANSWER = "There are two ways:\n\n1. Call `File::open`.\n2. Use `OpenOptions` for more control."
THREAD = ((Message.user(ASKED, at=NOON), Message.assistant(ANSWER, at=NOON)),)


@pytest.mark.parametrize(
    "message",
    [
        "and in Python?", "why?", "Why is that?", "give an example", "Can you give me an example?",
        "what about large files?", "tell me more", "how does it work?", "is that safe?", "how so?",
        "what else?", "and then?", "What are its drawbacks?", "for example?", "in Go?",
        "but how do I close it?", "is there another way?", "And in winter?", "And for group work?",
        "what about the other robot?", "With what?", "How often?", "explain", "Explain that",
        "which errors are there?", "tell me more about it",
    ],
)  # fmt: skip
def test_a_follow_up_carries_its_question(message: str) -> None:
    assert standalone(message, THREAD) == f"{ASKED} {message}"


@pytest.mark.parametrize(
    "message",
    [
        "What is the refund policy for enterprise customers?",
        "How do I invite a guest to a private channel?",
        "How many vacation days do employees get each year?",
        "What is ownership in Rust and which rules govern memory?",
        "thanks!", "hello", "who are you?",
        "Is there a limit on the number of uploads per day?",
        "Where can I find the list of supported languages?",
        "Who may watch?", "What is a crate?", "Explain lifetimes and borrowing",
        "Why does Rust not have null?", "Show me an example of a trait object",
    ],
)  # fmt: skip
def test_a_new_topic_is_left_alone(message: str) -> None:
    assert standalone(message, THREAD) == message


def test_a_choice_names_the_item_of_the_last_answer() -> None:
    joined = standalone("the second one?", THREAD)
    assert joined == f"{ASKED} Use `OpenOptions` for more control. the second one?"


def test_a_choice_beyond_the_list_names_nothing() -> None:
    assert standalone("the fourth one?", THREAD) == f"{ASKED} the fourth one?"


def test_the_first_question_stands_alone() -> None:
    assert standalone("why?", ()) == "why?"


def test_small_talk_between_is_passed_over() -> None:
    turns = (*THREAD, (Message.user("thanks!", at=NOON), Message.assistant("Welcome!", at=NOON)))
    assert standalone("and in Python?", turns) == f"{ASKED} and in Python?"


def test_a_chain_carries_what_was_understood_last() -> None:
    carried = f"{ASKED} and in Python?"
    turns = (*THREAD, (Message.user("and in Python?", at=NOON), Message.assistant("open", at=NOON)))
    assert standalone("why?", turns, carried=carried) == f"{carried} why?"


def test_a_joined_question_is_never_too_long_to_search() -> None:
    assert len(standalone("why?", THREAD, carried="word " * 300)) <= 1_000


def test_a_long_chain_keeps_its_topic_and_the_newest_questions() -> None:
    understood = ASKED
    for number in range(12):
        turns = ((Message.user(understood, at=NOON), Message.assistant("Yes.", at=NOON)),)
        understood = standalone(f"And in language {number}?", turns, carried=understood)
    assert understood.startswith(ASKED)
    assert understood.endswith("And in language 10? And in language 11?")
    assert understood.count("?") == MAX_CARRIED + 1


def test_a_topic_that_changes_in_the_middle_drags_nothing_along() -> None:
    new = "How many vacation days do employees get?"
    turns = (*THREAD, (Message.user(new, at=NOON), Message.assistant("30.", at=NOON)))
    assert standalone(new, THREAD, carried=ASKED) == new
    assert standalone("And in the first year?", turns, carried=new) == (
        f"{new} And in the first year?"
    )


@pytest.mark.parametrize(
    ("message", "with_question"),
    [
        ("How long does it take?", True), ("And in winter?", True), ("why?", True),
        ("the second one", True), ("What about plates?", True),
        ("virtualization", False),
        ("What if I want to store an image or a pdf beside the document?", False),
        ("Do I have to use a certain browser for this service on a phone?", False),
    ],
)  # fmt: skip
def test_what_brings_words_of_its_own_is_searched_by_them(
    message: str, with_question: bool
) -> None:
    understood = standalone(message, THREAD)
    assert sought(message, understood) == (understood if with_question else message)
