"""A question that asks several things is taken apart, and one that asks one thing is not."""

from __future__ import annotations

import pytest

from rag_core.agent.parts import parts_of
from rag_core.agent.phrases import PHRASES, named_open


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is ROS and how do I install it?", ["What is ROS", "how do I install it?"]),
        ("Who may watch? Where do they stand?", ["Who may watch?", "Where do they stand?"]),
        (
            "Was ist ein Tag und wie schreibe ich ihn?",
            ["Was ist ein Tag und wie schreibe ich ihn?"],
        ),
        ("What is a tag, and where is it kept?", ["What is a tag", "where is it kept?"]),
    ],
)
def test_each_thing_that_is_asked_is_a_part(question: str, parts: list[str]) -> None:
    assert [part.text for part in parts_of(question)] == parts


@pytest.mark.parametrize(
    "question",
    [
        "Who built it and when?",
        "How are salt and pepper scaled?",
        "I was away last week. How many days may I carry over?",
        "What is a? What is b? What is c? What is d? What is e?",
        "Write a launch file and run it",
        "",
    ],
)
def test_one_thing_is_one_part(question: str) -> None:
    assert [part.whole for part in parts_of(question)] == [question]


def test_what_was_asked_earlier_is_no_part_but_tells_what_about() -> None:
    (part,) = parts_of("How old is it? And the other?", ["How old is it?"])
    assert part.whole == "How old is it? And the other?"


def test_a_part_that_leans_on_the_first_carries_it_along() -> None:
    first, second = parts_of("What is ROS and how do I install it?")
    assert first.whole == "What is ROS"
    assert second.whole == "What is ROS? how do I install it?"


@pytest.mark.parametrize("phrases", PHRASES.values(), ids=PHRASES)
def test_the_sentence_that_names_an_open_part_is_known_again(phrases: object) -> None:
    said = phrases.part_not_covered.format(part="how much it weighs")  # type: ignore[attr-defined]
    assert named_open(said) == "how much it weighs"
