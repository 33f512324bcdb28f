"""A message too long to be a question keeps its question and the ends of the paste."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.pastes import GAP, shortened
from rag_core.conversation.question import MAX_QUESTION

LOG = "\n".join(f"{number}: something happened" for number in range(300))


def test_what_fits_stays_as_it_is() -> None:
    assert shortened(" why?\n") == "why?"
    assert shortened("x" * MAX_QUESTION) == "x" * MAX_QUESTION


@pytest.mark.parametrize(
    "text",
    [
        f"Why does it stop?\n\n{LOG}",
        f"{LOG}\n\nWhy does it stop?",
        f"```\nwhat?\n\n{LOG}\n```\nWhy does it stop?",
        f"I ran it.\n\n~~~\n{LOG}\n~~~\n\nWhy does it stop?\n\nI use Linux.",
    ],
)
def test_the_question_is_found_wherever_it_stands(text: str) -> None:
    read = shortened(text)
    assert read.startswith("Why does it stop?")
    assert GAP in read
    assert "0: something" in read
    assert "299: something happened" in read


def test_without_a_question_mark_the_first_words_count() -> None:
    assert shortened(f"It stops here.\n\n{LOG}").startswith("It stops here.")


def test_a_question_within_one_huge_paragraph_is_kept_with_what_is_before_it() -> None:
    read = shortened("word " * 500 + "so why does it stop? " + "more " * 300)
    assert "so why does it stop?" in read
    assert read.endswith("more")


@given(text=st.text(alphabet=st.sampled_from("ab? \n`~é👍\u0301\u200d"), max_size=6_000))
def test_nothing_comes_out_longer_than_a_question(text: str) -> None:
    read = shortened(text)
    assert len(read) <= MAX_QUESTION
    assert bool(read) == bool(text.strip())
