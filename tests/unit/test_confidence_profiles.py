"""From similarity to a level, by each profile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rag_core.agent.confidence.calibration import Calibration, coverage
from rag_core.agent.confidence.inquiry import Inquiry

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
from rag_core.retrieval.results import SearchResult
from tests.builders import a_result

ASKED = Inquiry(text="How many a day?")
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
    judged, confidence = StrictProfile().judge(ASKED, found(*scores))
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
    assert SimpleProfile().judge(ASKED, found(*scores)) == (level, confidence)


def test_the_shipped_calibration_is_complete_and_in_order() -> None:
    shipped = Calibration.shipped()
    assert shipped.embedder
    assert shipped.measured_on
    assert 0.0 < shipped.low < shipped.medium < shipped.high < 1.0


@given(st.lists(st.floats(0, 1), max_size=6), st.lists(st.floats(0, 1), max_size=6))
def test_confidence_rises_with_the_level(one: list[float], other: list[float]) -> None:
    profile = CalibratedProfile(Calibration.shipped())
    (level, sure), (other_level, other_sure) = (
        profile.judge(Inquiry(text="ten a day"), found(*scores)) for scores in (one, other)
    )
    if RANK.index(level) < RANK.index(other_level):
        assert sure < other_sure


def test_the_words_of_the_question_count_as_well() -> None:
    profile = CalibratedProfile(Calibration.shipped())
    near = found(0.5, text="Uploads are limited to ten a day.")
    _, about_it = profile.judge(Inquiry(text="How are uploads limited?"), near)
    _, beside_it = profile.judge(Inquiry(text="How are refunds granted?"), near)
    assert about_it > beside_it


def test_coverage_counts_words_that_carry_meaning() -> None:
    assert coverage("What are the daily limits?", [{"limit", "day", "ten"}, {"ten"}]) == [1.0, 0.0]
    assert coverage("the of and", [{"ten"}]) == [0.0]


@given(st.lists(st.floats(0, 1), max_size=8))
def test_metrics_hold_their_order(scores: list[float]) -> None:
    metrics = measured(SimpleProfile(), ASKED, found(*scores))
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
    assert [profile_named(name).name for name in ("strict", "simple", "calibrated")] == [
        "strict",
        "simple",
        "calibrated",
    ]
    with pytest.raises(ConfigurationError):
        profile_named("lenient")


@pytest.mark.parametrize(
    ("question", "raised"),
    [
        ("What does code K44 mean?", True),
        ("What does code K45 mean?", False),
        ("Do K44 and BS-405 go together?", False),
        ("What does the 4th code of 2024 mean?", False),
    ],
)
def test_a_code_that_stands_in_a_passage_is_a_strong_sign(question: str, raised: bool) -> None:
    profile = CalibratedProfile(Calibration.shipped())
    asked = Inquiry(text=question)
    with_code = profile.judge(asked, found(0.3, text="Dropped: it stops with K44, the 4th code."))[
        1
    ]
    without = profile.judge(asked, found(0.3, text="Dropped: it stops with Kxx, the 4th code."))[1]
    assert (with_code > without + 0.1) is raised
