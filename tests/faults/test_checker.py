"""The judge is judged: a good desk passes, and each of ten defects is seen and named."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tests.faults.checker import figures, findings
from tests.faults.simulated_desk import DEFECTS, SimulatedDesk

SEEDS = range(5)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_good_desk_passes(seed: int) -> None:
    record = SimulatedDesk(Random(seed)).run()
    assert findings(record) == []
    assert figures(record)["sent"] > 20


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("defect", sorted(DEFECTS))
def test_a_defect_is_seen_and_named(defect: str, seed: int) -> None:
    record = SimulatedDesk(Random(seed), defect).run()
    assert DEFECTS[defect] in {found.kind for found in findings(record)}


def test_there_are_ten_defects() -> None:
    assert len(DEFECTS) == 10


def test_words_of_another_thread_in_a_prompt_are_seen() -> None:
    record = SimulatedDesk(Random(1)).run()
    first, other = record.sent[0], record.sent[1]
    record.prompts = [(first.canary, other.canary)]
    assert [found.kind for found in findings(record)] == ["crossed"]


def test_a_question_without_its_answer_is_lost() -> None:
    record = SimulatedDesk(Random(1)).run()
    record.stored[0] = replace(record.stored[0], answers=0)
    assert "lost" in {found.kind for found in findings(record)}
