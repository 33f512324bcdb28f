"""From similarity to a level, by each profile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.agent.confidence.profiles import (
    CalibratedProfile,
    SimpleProfile,
    StrictProfile,
    diversity,
    measured,
    profile_named,
)
from rag_core.errors import ConfigurationError
from rag_core.reading.estimate import NOTHING, Estimate, Features
from rag_core.retrieval.results import SearchResult
from tests.builders import a_result

SHIPPED = Estimate.shipped(embedder="", reader="")
RANK = [
    ConfidenceLevel.INSUFFICIENT,
    ConfidenceLevel.LOW,
    ConfidenceLevel.MEDIUM,
    ConfidenceLevel.HIGH,
]


def found(*scores: float, text: str = "Ten a day.") -> list[SearchResult]:
    return [a_result(f"{text} {n}", similarity_score=s, rank=n + 1) for n, s in enumerate(scores)]


@pytest.mark.parametrize(
    ("scores", "level"),
    [
        ([0.85] * 5, ConfidenceLevel.HIGH),
        ([0.9] * 4, ConfidenceLevel.MEDIUM),
        ([0.849] * 5, ConfidenceLevel.MEDIUM),
        ([0.75] * 3, ConfidenceLevel.MEDIUM),
        ([0.9] * 2, ConfidenceLevel.LOW),
        ([0.60] * 2, ConfidenceLevel.LOW),
        ([0.95], ConfidenceLevel.INSUFFICIENT),
        ([0.59] * 9, ConfidenceLevel.INSUFFICIENT),
        ([], ConfidenceLevel.INSUFFICIENT),
    ],
)
def test_strict_needs_an_average_and_a_number(scores: list[float], level: ConfidenceLevel) -> None:
    judged, confidence = StrictProfile().judge(found(*scores), NOTHING)
    assert judged is level
    assert confidence == pytest.approx(sum(scores) / len(scores) if scores else 0.0)


@pytest.mark.parametrize(
    ("scores", "level", "confidence"),
    [
        ([0.3, 0.1], ConfidenceLevel.HIGH, 0.3),
        ([0.1, 0.29], ConfidenceLevel.LOW, 0.29),
        ([0.0], ConfidenceLevel.INSUFFICIENT, 0.0),
        ([], ConfidenceLevel.INSUFFICIENT, 0.0),
    ],
)
def test_simple_looks_at_the_top(
    scores: list[float], level: ConfidenceLevel, confidence: float
) -> None:
    assert SimpleProfile().judge(found(*scores), NOTHING) == (level, confidence)


@given(st.floats(0, 1), st.floats(0, 1))
def test_confidence_rises_with_the_level(one: float, other: float) -> None:
    profile = CalibratedProfile(SHIPPED)
    (level, sure), (other_level, other_sure) = (
        profile.judge(found(0.5), Features(best_answered=figure, best_unit=figure))
        for figure in (one, other)
    )
    if RANK.index(level) < RANK.index(other_level):
        assert sure < other_sure


def test_where_nothing_was_found_there_is_no_confidence() -> None:
    assert CalibratedProfile(SHIPPED).judge([], NOTHING) == (ConfidenceLevel.INSUFFICIENT, 0.0)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_metrics_hold_their_order(scores: list[float]) -> None:
    metrics = measured(found(*scores), ConfidenceLevel.HIGH, 0.5)
    assert metrics.min_similarity <= metrics.average_similarity <= metrics.max_similarity
    assert metrics.num_chunks == len(scores)


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        ([], 0.0),
        ([(1.0, 0.0)], 0.0),
        ([(1.0, 0.0), (2.0, 0.0)], 0.0),
        ([(1.0, 0.0), (0.0, 3.0)], 1.0),
        ([(1.0, 0.0), (1.0, 0.0), (0.0, 1.0)], 2 / 3),
    ],
)
def test_diversity_is_what_pairs_do_not_share(
    vectors: list[tuple[float, float]], expected: float
) -> None:
    assert diversity(vectors) == pytest.approx(expected)


def test_profiles_are_named_in_the_settings() -> None:
    assert [profile_named(name, SHIPPED).name for name in ("strict", "simple", "calibrated")] == [
        "strict",
        "simple",
        "calibrated",
    ]
    with pytest.raises(ConfigurationError):
        profile_named("lenient", SHIPPED)
