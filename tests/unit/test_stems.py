"""Forms of one word have one stem."""

from __future__ import annotations

import pytest

from rag_core.agent.language.stems import stem

FAMILIES = [
    "pay pays paid paying", "day days daily", "use uses used using", "add adds added adding",
    "key keys", "age ages aged", "say says said saying", "play plays played playing",
    "try tries tried trying", "fly flies", "tie ties tied", "die dies died", "dry dries dried",
    "run runs ran running", "plan plans planned planning", "cache caches cached caching",
    "survey surveys", "category categories", "own owns owned", "class classes", "egg eggs",
]  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_the_forms_of_a_word_have_one_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize("pair", ["gas game", "bus bush", "bed be", "ad add", "pa pay", "no note"])
def test_short_words_that_differ_stay_apart(pair: str) -> None:
    one, other = pair.split()
    assert stem(one) != stem(other)
