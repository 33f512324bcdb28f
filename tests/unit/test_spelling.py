"""Slips of the keyboard are mended by the words of the evidence, and other words stay."""

from __future__ import annotations

import pytest

from rag_core.agent.language.spelling import corrected

EVIDENCE = (
    "The council met when Gegeen was described as strong in strength and recognised by all.",
    "Present values: a stage, a stream, a wise professional and the kilometres to the arpanet.",
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("the counil", "the council"),
        ("Geegen", "gegeen"),
        ("desribed", "described"),
        ("strengh", "strength"),
        ("recognized", "recognised"),
        ("kilometers", "kilometres"),
        ("ARPNET?", "arpanet?"),
        ("couuncil", "council"),
    ],
)
def test_one_slip_is_mended(typed: str, meant: str) -> None:
    assert corrected(typed, EVIDENCE) == meant


@pytest.mark.parametrize(
    "typed",
    [
        "prevent",  # one letter from `present`, and a word of its own
        "steam and state",
        "profession",
        "councils",  # the same stem
        "don't and could've",
        "what which those",
        "counsellors",
        "strong-arm",
        "",
    ],
)
def test_words_of_their_own_stay(typed: str) -> None:
    assert corrected(typed, EVIDENCE) == typed


def test_without_evidence_nothing_is_mended() -> None:
    assert corrected("the counil", ()) == "the counil"
