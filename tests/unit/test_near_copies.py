"""A sentence that repeats the evidence with one fact exchanged is told from a paraphrase."""

from __future__ import annotations

import pytest

from rag_core.agent.checks.near_copy import changed_in_place

HELD = [
    "The gate opens at 8:00 and Ruth Meyer brings 40 chairs every Monday.",
    "Nobody may leave the room before the bell rings, for no reason at all.",
    "A tray is no deeper than 5 cm, and the oven needs 90 minutes.",
]


@pytest.mark.parametrize(
    "sentence",
    [
        "The gate opens at 8:00 and Ruth Meyer brings 60 chairs every Monday.",
        "The gate opens at 8:00 and Ruth Meyer brings 40 chairs every Friday.",
        "The gate opens at 8:00 and Ruth Bauer brings 40 chairs every Monday.",
        "Ruth Meyer never brings 40 chairs every Monday.",
        "A tray is no deeper than 5 cm, and the oven needs 90 seconds.",
        "Somebody may leave the room before the bell rings.",
        "Anna Meyer brings 40 chairs every Monday.",
    ],
)
def test_an_exchange_is_seen(sentence: str) -> None:
    assert changed_in_place(sentence, HELD)


@pytest.mark.parametrize(
    "sentence",
    [
        *HELD,
        "Ruth Meyer brings 40 chairs every Monday.",
        "A tray is at most 5 cm deep, and the oven needs 90 minutes.",
        "She brings 40 chairs every Monday.",
        "Chairs are brought by Ruth Meyer, 40 of them, on Mondays.",
        "It opens.",
        "Something else entirely is written here about 17 bicycles.",
    ],
)
def test_what_was_only_said_otherwise_or_left_out_is_no_exchange(sentence: str) -> None:
    assert not changed_in_place(sentence, HELD)
