"""What Footnote counts, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from rag_core.agent.answer import Outcome
from rag_core.conversation.key import Platform

ANSWER_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120)


class Metrics:
    """The desk's observer, and the page that a Prometheus server reads."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._accepted = Counter(
            "footnote_questions_accepted",
            "Questions taken in; repeated deliveries of one question count apart.",
            ("platform", "repeated"),
            registry=self._registry,
        )
        self._answered = Histogram(
            "footnote_answer_seconds",
            "From taking a question up to its stored answer.",
            ("platform", "outcome"),
            buckets=ANSWER_BUCKETS,
            registry=self._registry,
        )
        self._delivered = Counter(
            "footnote_answers_delivered",
            "Answers that reached their thread, and those that never will.",
            ("platform", "posted"),
            registry=self._registry,
        )
        self._waiting = Gauge(
            "footnote_questions_waiting",
            "Questions that are neither delivered nor given up.",
            registry=self._registry,
        )

    def accepted(self, platform: Platform, *, repeated: bool) -> None:
        self._accepted.labels(platform.value, str(repeated).lower()).inc()

    def answered(self, platform: Platform, outcome: Outcome, *, seconds: float) -> None:
        self._answered.labels(platform.value, outcome.value).observe(seconds)

    def delivered(self, platform: Platform, *, posted: bool) -> None:
        self._delivered.labels(platform.value, str(posted).lower()).inc()

    def page(self, *, waiting: int) -> bytes:
        self._waiting.set(waiting)
        return generate_latest(self._registry)
