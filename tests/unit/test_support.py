"""How well changed sentences are told from true ones, on pairs written by hand."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from rag_core.agent.support import Evidence
from rag_core.retrieval.context import RetrievalContext
from tests.builders import NOON, a_result

PAIRS = Path(__file__).parents[1] / "data" / "support_pairs.jsonl"
LEAST = {
    "quoted": 1.0, "paraphrased": 0.96, "number": 0.95, "unit": 0.95, "command": 0.95, "date": 0.9,
    "negation": 0.9, "name": 0.7,
}  # fmt: skip


def judged(evidence: str, sentence: str) -> bool:
    found = [a_result(evidence, page_title="", section_heading="")]
    context, _ = RetrievalContext(query="").extended(found, took_ms=0.0, at=NOON)
    return Evidence(context, question="").supports(sentence, [1])


def measured() -> dict[str, list[tuple[str, bool]]]:
    """Each kind's sentences, and whether each was judged rightly."""
    kinds: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        right = judged(pair["evidence"], pair["sentence"]) == pair["holds"]
        kinds[pair["kind"]].append((pair["sentence"], right))
    return kinds


@pytest.fixture(scope="module")
def figures() -> dict[str, list[tuple[str, bool]]]:
    return measured()


@pytest.mark.parametrize("kind", LEAST)
def test_each_kind_is_judged_well_enough(
    figures: dict[str, list[tuple[str, bool]]], kind: str
) -> None:
    wrong = [sentence for sentence, right in figures[kind] if not right]
    share = 1 - len(wrong) / len(figures[kind])
    assert share >= LEAST[kind], f"{kind}: {share:.2f} of {len(figures[kind])}; wrong: {wrong}"


def test_the_set_has_every_kind_and_is_large_enough(
    figures: dict[str, list[tuple[str, bool]]],
) -> None:
    assert set(figures) == set(LEAST)
    assert sum(map(len, figures.values())) >= 150
