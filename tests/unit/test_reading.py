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


@pytest.mark.parametrize(
    "sentence", ["Call (ext. 2040) first.", "See Art. 5 of it.", "Until 3 Dec. 2025 it is open."]
)
def test_what_is_cut_short_before_its_number_ends_no_sentence(sentence: str) -> None:
    assert sentences_of(sentence) == (sentence,)


def test_a_word_that_is_whole_ends_one_before_a_number_as_well() -> None:
    assert sentences_of("It is no work of art. 5 of them are.") == (
        "It is no work of art.",
        " 5 of them are.",
    )


@pytest.mark.parametrize("said", ["whats", "what's", "Whats", "dont", "don't", "doesnt", "theres"])
def test_a_word_that_is_contracted_says_nothing_with_its_apostrophe_or_without(said: str) -> None:
    assert content(f"{said} ready") == content("ready")


@pytest.mark.parametrize("word", ["ill", "shell", "well", "id", "hell"])
def test_a_word_that_only_looks_contracted_is_one(word: str) -> None:
    assert content(word)
