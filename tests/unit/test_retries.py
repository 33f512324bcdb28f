"""When a call is tried again, and when a service is left alone."""

from __future__ import annotations

import random

import pytest

from rag_core.errors import UpstreamRejected, UpstreamUnavailable
from rag_core.providers.retries import Breaker, Retries

LOST = UpstreamUnavailable("openai")


def later(seconds: float) -> UpstreamRejected:
    return UpstreamRejected("openai", "status 429", retryable=True, retry_after=seconds)


def retries(**changes: float) -> Retries:
    return Retries(chance=random.Random(7), **changes)  # type: ignore[arg-type]


def test_pauses_grow_and_differ() -> None:
    pauses = [retries().pause(LOST, attempt=n, elapsed=0.0) or 0.0 for n in (1, 2)]
    assert 0.25 <= pauses[0] <= 0.5 <= pauses[1] <= 1.0


def test_the_third_attempt_is_the_last() -> None:
    assert retries().pause(LOST, attempt=3, elapsed=0.0) is None


def test_a_clear_refusal_is_final() -> None:
    assert retries().pause(UpstreamRejected("openai"), attempt=1, elapsed=0.0) is None


def test_being_asked_to_wait_is_honoured_within_the_patience() -> None:
    assert retries().pause(later(7), attempt=1, elapsed=0.0) == 7
    assert retries().pause(later(7), attempt=1, elapsed=54.0) is None
    assert retries().pause(later(240), attempt=1, elapsed=0.0) is None


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(clock: Clock) -> Breaker:
    breaker = Breaker("openai", clock=clock)
    for _ in range(5):
        breaker.check()
        breaker.failed()
    return breaker


def test_five_failures_in_a_row_open_it(clock: Clock) -> None:
    with pytest.raises(UpstreamUnavailable):
        opened(clock).check()


def test_a_success_between_starts_the_row_anew(clock: Clock) -> None:
    breaker = Breaker("openai", clock=clock)
    for _ in range(4):
        breaker.failed()
    breaker.succeeded()
    breaker.failed()
    breaker.check()


def test_after_five_seconds_one_caller_tries(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now += 5.0
    breaker.check()
    with pytest.raises(UpstreamUnavailable):
        breaker.check()
    breaker.succeeded()
    breaker.check()
    breaker.check()


def test_a_trial_that_fails_rests_the_service_again(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now += 5.0
    breaker.check()
    breaker.failed()
    with pytest.raises(UpstreamUnavailable):
        breaker.check()
