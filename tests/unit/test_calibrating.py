"""Cut-offs follow what was observed, and are kept for the embedder they were measured with."""

from __future__ import annotations

from pathlib import Path

import pytest
from rag_core.agent.confidence.calibration import Calibration, EvidenceSignals

from bot.calibration import CALIBRATION_FILE, calibration_for, keep_calibration
from rag_core.errors import ConfigurationError
from rag_core.evaluation.calibrating import Observation, calibrated, figures_of


def seen(similarity: float, *, right: bool, of: str = "one") -> Observation:
    signals = EvidenceSignals(similarity=similarity, wording=similarity, coverage=similarity)
    return Observation(of=of, signals=signals, is_answerable=right)


def told_apart(of: str = "one") -> list[Observation]:
    near = [seen(0.5 + n / 100, right=True, of=of) for n in range(40)]
    return near + [seen(0.05 + n / 100, right=False, of=of) for n in range(40)]


def test_what_can_be_told_apart_is() -> None:
    found = calibrated(told_apart(), embedder="words", measured_on="today")
    (figures,) = figures_of(found, told_apart())
    assert figures.auc == 1.0
    assert figures.answered >= 0.97
    assert figures.refused >= 0.7
    assert 0.0 < found.low < found.medium < found.high < 1.0
    assert found.similarity > 0.0


def test_every_set_weighs_the_same_however_large() -> None:
    small = calibrated(told_apart("a") + told_apart("b"), embedder="words", measured_on="")
    large = calibrated(told_apart("a") + told_apart("b") * 9, embedder="words", measured_on="")
    assert small == large


def test_too_few_questions_of_a_kind_are_named() -> None:
    only = [seen(0.5, right=True)] * 100 + [seen(0.5, right=False)] * 3
    with pytest.raises(ConfigurationError, match="There are 3 questions that are not answerable"):
        calibrated(only, embedder="words", measured_on="")


def test_cut_offs_belong_to_their_embedder(tmp_path: Path) -> None:
    assert calibration_for(tmp_path, embedder="words") == Calibration.shipped()
    own = calibrated(told_apart(), embedder="words", measured_on="today")
    keep_calibration(tmp_path, own)
    assert calibration_for(tmp_path, embedder="words") == own
    assert calibration_for(tmp_path, embedder="other") == Calibration.shipped()


def test_a_file_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / CALIBRATION_FILE).write_text("{}")
    with pytest.raises(ConfigurationError, match="delete it, or run `footnote calibrate` again"):
        calibration_for(tmp_path, embedder="words")
