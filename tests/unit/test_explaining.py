"""What `footnote ask --explain` says of the confidence is what decided."""

from __future__ import annotations

from bot.commands.explaining import reasons
from rag_core.agent.confidence.profiles import CalibratedProfile, SimpleProfile
from rag_core.reading.estimate import Estimate

ESTIMATE = {
    "confidence": 0.42,
    "level": "low",
    "features": {"best_answered": 1.25, "coverage": 0.51},
}


def test_the_figures_and_the_cut_offs_are_named() -> None:
    shipped = Estimate.shipped(embedder="", reader="")
    answer = {"outcome": "low_confidence"}
    told = "\n".join(reasons(answer, ESTIMATE, CalibratedProfile(shipped)))
    assert "Confidence 0.42 (low) by the profile calibrated" in told
    assert "best answered 1.25, coverage 0.51" in told
    assert f"Refused below {shipped.low:g}" in told


def test_a_refusal_in_spite_of_good_passages_says_why() -> None:
    told = "\n".join(reasons({"outcome": "no_results"}, ESTIMATE, SimpleProfile()))
    assert "Refused all the same" in told
