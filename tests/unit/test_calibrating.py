"""Cut-offs follow what was observed, and are kept for the models they were measured with."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.calibration import ESTIMATE_FILE, estimate_for, keep_estimate
from rag_core.errors import ConfigurationError
from rag_core.evaluation.calibrating import Observation, calibrated, figures_of
from rag_core.reading.estimate import Estimate, Features


def seen(figure: float, *, right: bool, of: str = "one", near: bool = True) -> Observation:
    features = Features(best_answered=figure, first_answered=figure, coverage=figure)
    return Observation(of=of, features=features, is_answerable=right, is_near=near)


def told_apart(of: str = "one") -> list[Observation]:
    near = [seen(0.5 + n / 100, right=True, of=of) for n in range(40)]
    return near + [seen(0.05 + n / 100, right=False, of=of) for n in range(40)]


def measured(observations: list[Observation]) -> Estimate:
    return calibrated(observations, embedder="words", reader="plain", measured_on="today")


def test_what_can_be_told_apart_is() -> None:
    found = measured(told_apart())
    (figures,) = figures_of(found, told_apart())
    assert figures.auc == 1.0
    assert figures.answered >= 0.95
    assert figures.refused >= 0.7
    assert 0.0 < found.low <= found.medium <= found.high < 1.0
    assert found.weights["first_answered"] > 0.0


def test_hardly_any_near_question_without_an_answer_is_answered_as_sure() -> None:
    mixed = told_apart() + [seen(0.6, right=False) for _ in range(20)]
    found = measured(mixed)
    sure = [found.probability(one.features) >= found.medium for one in mixed if one.is_near]
    wrong = [s for s, one in zip(sure, mixed, strict=True) if not one.is_answerable]
    assert sum(wrong) / len(wrong) <= 0.08
    assert any(sure)


def test_every_set_weighs_the_same_however_large() -> None:
    small = measured(told_apart("a") + told_apart("b"))
    large = measured(told_apart("a") + told_apart("b") * 9)
    assert (small.intercept, small.weights) == (large.intercept, large.weights)


def test_too_few_questions_of_a_kind_are_named() -> None:
    only = [seen(0.5, right=True)] * 100 + [seen(0.5, right=False)] * 3
    with pytest.raises(ConfigurationError, match="There are 3 questions that are not answerable"):
        measured(only)


def test_cut_offs_belong_to_their_embedder_and_reader(tmp_path: Path) -> None:
    shipped = Estimate.shipped(embedder="words", reader="plain")
    assert estimate_for(tmp_path, embedder="words", reader="plain") == shipped
    own = measured(told_apart())
    keep_estimate(tmp_path, own)
    assert estimate_for(tmp_path, embedder="words", reader="plain") == own
    assert estimate_for(tmp_path, embedder="other", reader="plain") != own
    assert estimate_for(tmp_path, embedder="words", reader="other") != own


def test_a_file_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / ESTIMATE_FILE).write_text("{}")
    with pytest.raises(ConfigurationError, match="delete it, or run `footnote calibrate` again"):
        estimate_for(tmp_path, embedder="words", reader="plain")
