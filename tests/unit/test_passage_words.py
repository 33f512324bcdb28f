"""The words of a passage are weighed as the index engine weighs them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.providers import passage_words
from rag_core.providers.bm25 import words_model
from rag_core.providers.passage_words import PassageWords

MODEL = words_model()
WORDS = PassageWords()
PLAIN = st.characters(max_codepoint=127)
KNOWN = st.sampled_from(["the", "Running", "runs", "don't", "a_b", "3.14", "C++", "x" * 300, "don"])


def assert_alike(text: str, words: PassageWords = WORDS) -> None:
    ours, own = words.weighed(text), MODEL.embed_document(text)
    assert ours.indices == own.indices
    assert ours.values == pytest.approx(own.values, rel=1e-6)


@given(st.text(PLAIN, max_size=200))
def test_any_plain_text_has_the_engines_own_terms_and_weights(text: str) -> None:
    assert_alike(text)


@given(st.lists(KNOWN, max_size=60))
def test_words_that_come_again_weigh_what_they_weigh_for_the_engine(words: list[str]) -> None:
    assert_alike(" ".join(words))


@pytest.mark.parametrize("text", ["Größe und Maß", "naïve cafés", "用語 › terms", "\x85 \xa0"])
def test_other_letters_are_left_to_the_engine(text: str) -> None:
    assert_alike(text)


def test_the_words_that_are_remembered_have_a_bound() -> None:
    words = PassageWords()
    for first in range(0, 2 * passage_words.REMEMBERED, 5_000):
        words.weighed(" ".join(f"word{number}" for number in range(first, first + 5_000)))
        assert len(words._terms) <= passage_words.REMEMBERED + 5_000
    assert_alike("The same words as before: word1 word2 word1", words)
