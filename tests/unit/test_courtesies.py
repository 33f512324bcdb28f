"""People greet, thank and sign; what they ask is what lies between."""

from __future__ import annotations

import pytest

from rag_core.agent.courtesies import without_courtesies


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("What is on a tag? Cheers, Bob", "What is on a tag?"),
        ("Hi all, quick question: what is on a tag? Thanks in advance!", "what is on a tag?"),
        ("What is on a tag?\n\nMany thanks,\nBob", "What is on a tag?"),
        ("hey folks! how do i reset it. please help", "how do i reset it."),
    ],
)
def test_courtesies_are_no_part_of_a_question(message: str, asked: str) -> None:
    assert without_courtesies(message) == asked


@pytest.mark.parametrize(
    "message",
    [
        "Hello world program",
        "Thank you notes: who writes them?",
        "What is a greeting? Greetings are said when?",
        "How do I say thank you in German?",
        "Question 3 solution?",
        "Thanks!",
        "",
    ],
)
def test_what_only_sounds_polite_stays(message: str) -> None:
    assert without_courtesies(message) == message
