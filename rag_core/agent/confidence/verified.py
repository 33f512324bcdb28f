"""How sure an answer is whose sentences have been checked: by what became of them."""

from __future__ import annotations

from dataclasses import replace

from rag_core.agent.confidence.level import ConfidenceLevel, ConfidenceMetrics
from rag_core.agent.confidence.profiles import ConfidenceProfile

JUST_BELOW = 0.999


def after_checks(
    metrics: ConfidenceMetrics, profile: ConfidenceProfile, *, is_whole: bool
) -> ConfidenceMetrics:
    """The measure of the evidence, within what the checked answer allows: one that stands whole is
    at least of medium confidence, one that lost something or leaves something open is low."""
    if is_whole and metrics.confidence_level is ConfidenceLevel.HIGH:
        return metrics
    level = ConfidenceLevel.MEDIUM if is_whole else ConfidenceLevel.LOW
    above = ConfidenceLevel.HIGH if is_whole else ConfidenceLevel.MEDIUM
    confidence = min(metrics.confidence, profile.least(above) * JUST_BELOW)
    confidence = max(confidence, profile.least(level))
    return replace(metrics, confidence_level=level, confidence=confidence)
