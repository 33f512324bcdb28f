"""The property of places kept apart fails as soon as one of its conditions is missing."""

from __future__ import annotations

import os

import pytest

from tests.contract.place_mutants import MUTANTS, ROOT, Mutant, is_noticed

TRIED = MUTANTS if os.environ.get("FOOTNOTE_TESTS") == "full" else MUTANTS[:1]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_condition_stands_in_the_code_once(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1


@pytest.mark.parametrize("mutant", TRIED, ids=lambda mutant: mutant.name)
def test_a_missing_condition_is_noticed(mutant: Mutant) -> None:
    assert is_noticed(mutant)
