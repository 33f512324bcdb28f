"""A passage is read once, and says the same whichever way its words were found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.agent.language.reading import read
from rag_core.agent.language.sentences import sentences_of
from rag_core.agent.language.words import content, words

PLAIN = st.text(alphabet="abC1 .!?'+#-_()[]*\"\n", max_size=40)
ANY = st.text(alphabet="abC1éß。！… .!?'’+#-_()[]*\"\n\t", max_size=40)


@given(PLAIN)
def test_words_of_plain_letters_are_found_as_among_others(text: str) -> None:
    assert (*words(text), "é") == words(f"{text} é")


@given(ANY)
def test_sentences_lose_nothing_of_a_text(text: str) -> None:
    assert "".join(sentences_of(text)) == text


@given(ANY)
def test_the_words_of_the_sentences_are_those_of_the_text(text: str) -> None:
    assert frozenset[str]().union(*(said for _, said in read(text))) == frozenset(content(text))


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Smith came.",
        "It takes approx. Two hours.",
        "See fig. Seven for it.",
        "It was said by J. Smith.",
        "Use e.g. Markdown for it.",
    ],
)
def test_a_word_that_is_cut_short_ends_no_sentence(sentence: str) -> None:
    assert sentences_of(sentence) == (sentence,)


@pytest.mark.parametrize(
    "first", ["Wait for 5 min.", "It weighs 25 g.", "Ask the clinic.", "A stop…", "Really?!"]
)
def test_any_other_word_ends_one(first: str) -> None:
    assert sentences_of(f"{first} Then go on.") == (first, " Then go on.")
