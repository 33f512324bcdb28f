"""A message that says too little to be searched alone takes along what it leans on."""

from __future__ import annotations

import pytest

from rag_core.agent.followup import (
    MAX_JOINED,
    earlier_questions,
    last_question,
    search_text,
)
from rag_core.agent.smalltalk import small_talk
from rag_core.conversation.message import Message
from tests.builders import NOON

ASKED = "How do I open a file in Rust?"
SECTION = "Files › Opening a file"
THREAD = ((Message.user(ASKED, at=NOON), Message.assistant("Call `File::open`.", at=NOON)),)


@pytest.mark.parametrize(
    "message",
    [
        "tell me more", "give an example", "Can you give me an example?", "continue", "go on",
        "and on Windows?", "and in Python?", "why?", "how so?", "what else?", "is that safe?",
        "explain that", "und unter Windows?", "warum?", "Hast du ein Beispiel?",
        "¿y en Windows?", "et sous Windows ?", "plus de détails",
    ],
)  # fmt: skip
def test_a_follow_up_leads_on_from_the_question_and_the_cited_section(message: str) -> None:
    assert search_text(message, last=ASKED, section=SECTION) == f"{ASKED} {SECTION} {message}"


@pytest.mark.parametrize(
    "message",
    [
        "What is the refund policy for enterprise customers?",
        "How do I invite a guest to a private channel?",
        "What is ownership in Rust and which rules govern memory?",
        "Wie lade ich einen Gast in einen privaten Kanal ein?",
        ASKED,
    ],
)
def test_what_says_enough_is_searched_by_its_own_words(message: str) -> None:
    assert search_text(message, last=ASKED, section=SECTION) == message


def test_the_first_question_stands_alone() -> None:
    assert search_text("why?", last="", section="") == "why?"


def test_few_words_beside_a_pasted_error_mean_that_error() -> None:
    text = search_text(
        "What does this mean?", last=ASKED, section=SECTION, error="KeyError: 'tray'"
    )
    assert text == "KeyError: 'tray' What does this mean?"


def test_a_long_chain_keeps_its_topic_and_stays_short_enough_to_search() -> None:
    text = ASKED
    for number in range(60):
        text = search_text(f"and in number {number}?", last=text, section=SECTION)
    assert text.startswith(ASKED)
    assert text.endswith("and in number 59?")
    assert len(text) <= MAX_JOINED


def test_small_talk_between_is_passed_over() -> None:
    turns = (*THREAD, (Message.user("thanks!", at=NOON), Message.assistant("Welcome!", at=NOON)))
    assert last_question(turns) == ASKED
    assert earlier_questions(turns) == (ASKED,)


@pytest.mark.parametrize(
    "message",
    [
        "What do you do with errors?", "How do you use it?", "can you help me with docker?",
        "what is it?", "who is it for", "was ist das", "How do I use the model?", "is it a robot?",
        "que es un robot", "which model is used", "good", "What is an AI?",
    ],
)  # fmt: skip
def test_a_question_about_something_else_is_no_small_talk(message: str) -> None:
    assert small_talk(message) is None
