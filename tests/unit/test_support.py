"""How well changed sentences are told from true ones: pairs written by hand, and edits of
sentences of the sample course and handbook and of paraphrases."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from rag_core.agent.checks.support import Evidence
from rag_core.retrieval.context import RetrievalContext
from tests.builders import NOON, a_result

PAIRS = Path(__file__).parents[1] / "data" / "support_pairs.jsonl"
CHANGED = ("number", "name", "date", "negation", "unit", "command")
TRUE = ("quoted", "paraphrased")
CAUGHT, KEPT = 0.95, 0.97


def judged(evidence: str, sentence: str) -> bool:
    found = [a_result(evidence, page_title="", section_heading="")]
    context, _ = RetrievalContext(query="").extended(found, took_ms=0.0, at=NOON)
    return Evidence(context, question="").supports(sentence, [1])


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]


def measured() -> dict[str, list[tuple[str, bool]]]:
    """Each kind's sentences, and whether each was judged rightly."""
    kinds: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for pair in rows():
        right = judged(pair["evidence"], pair["sentence"]) == pair["holds"]
        kinds[pair["kind"]].append((pair["sentence"], right))
    return kinds


@pytest.fixture(scope="module")
def figures() -> dict[str, list[tuple[str, bool]]]:
    return measured()


@pytest.mark.parametrize("kind", CHANGED)
def test_changed_sentences_of_each_kind_are_caught(
    figures: dict[str, list[tuple[str, bool]]], kind: str
) -> None:
    check(figures[kind], kind, least=CAUGHT)


def test_true_sentences_stay(figures: dict[str, list[tuple[str, bool]]]) -> None:
    check([one for kind in TRUE for one in figures[kind]], "true", least=KEPT)
    check(figures["paraphrased"], "paraphrased", least=KEPT)


def check(judgements: list[tuple[str, bool]], kind: str, *, least: float) -> None:
    wrong = [sentence for sentence, right in judgements if not right]
    share = 1 - len(wrong) / len(judgements)
    print(f"{kind}: {share:.3f} of {len(judgements)}")
    assert share >= least, f"{kind}: {share:.3f} of {len(judgements)}; wrong: {wrong}"


def test_the_set_is_large_enough_in_every_kind(
    figures: dict[str, list[tuple[str, bool]]],
) -> None:
    assert set(figures) == {*CHANGED, *TRUE}
    assert min(map(len, figures.values())) >= 60
    assert sum(map(len, figures.values())) >= 500
    by_hand = [row for row in rows() if row["by"] == "hand"]
    assert len(by_hand) >= 100
    assert sum(not row["holds"] for row in by_hand) >= 100
