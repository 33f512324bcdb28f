"""An answer to a message that was split says what was taken as its question."""

from __future__ import annotations

import pytest

from rag_core.agent.phrases import PHRASES
from rag_core.desk.answering import announced
from tests.builders import a_question, a_response, a_thread


@pytest.mark.parametrize("locale", sorted(PHRASES))
def test_the_answer_says_how_the_message_was_read(locale: str) -> None:
    question = a_question("Why does it stop?", original_length=4_500, locale=locale)
    told = announced(a_response("Ten a day [1]."), a_thread(), question).answer
    first, _, rest = told.partition("\n\n")
    assert "Why does it stop?" in first
    assert "4" in first
    assert "{" not in first
    assert rest == "Ten a day [1]."


def test_an_answer_to_a_short_message_says_nothing_of_it() -> None:
    response = a_response("Ten a day [1].")
    assert announced(response, a_thread(), a_question()) is response
