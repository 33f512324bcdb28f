"""When a call is tried again, and when a service is left alone."""

from __future__ import annotations

import asyncio
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

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def opened(clock: Clock, *, waiting: int = 0) -> Breaker:
    breaker = Breaker("openai", clock=clock, sleep=clock.sleep, waiting=waiting)
    for _ in range(5):
        await breaker.turn()
        breaker.failed()
    return breaker


async def test_five_failures_in_a_row_open_it(clock: Clock) -> None:
    breaker = await opened(clock)
    with pytest.raises(UpstreamUnavailable):
        await breaker.turn()


async def test_a_success_between_starts_the_row_anew(clock: Clock) -> None:
    breaker = Breaker("openai", clock=clock)
    for _ in range(4):
        breaker.failed()
    breaker.succeeded()
    breaker.failed()
    await breaker.turn()


async def test_after_five_seconds_one_caller_tries(clock: Clock) -> None:
    breaker = await opened(clock)
    clock.now += 5.0
    await breaker.turn()
    with pytest.raises(UpstreamUnavailable):
        await breaker.turn()
    breaker.succeeded()
    await breaker.turn()
    await breaker.turn()


async def test_a_trial_that_fails_rests_the_service_again(clock: Clock) -> None:
    breaker = await opened(clock)
    clock.now += 5.0
    await breaker.turn()
    breaker.failed()
    with pytest.raises(UpstreamUnavailable):
        await breaker.turn()


async def test_some_wait_until_it_is_tried_again(clock: Clock) -> None:
    breaker = await opened(clock, waiting=1)
    clock.now += 2.0
    await breaker.turn()
    assert clock.now == 105.0
    breaker.succeeded()
    await breaker.turn()
    assert clock.now == 105.0


async def test_one_of_those_who_waited_tries_and_the_others_are_refused(clock: Clock) -> None:
    woken = asyncio.Event()

    async def sleep(seconds: float) -> None:
        await woken.wait()

    breaker = Breaker("openai", failures=1, waiting=3, clock=clock, sleep=sleep)
    breaker.failed()
    turns = [asyncio.create_task(breaker.turn()) for _ in range(3)]
    await asyncio.sleep(0)
    clock.now += 5.0
    woken.set()
    waited = await asyncio.gather(*turns, return_exceptions=True)
    assert waited.count(None) == 1
    assert sum(isinstance(each, UpstreamUnavailable) for each in waited) == 2


async def test_a_crowd_does_not_wait() -> None:
    breaker = Breaker("openai", failures=1, waiting=2)
    breaker.failed()
    places = [asyncio.create_task(breaker.turn()) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(UpstreamUnavailable):
        await breaker.turn()
    for place in places:
        place.cancel()
    await asyncio.wait(places)
    waits_again = asyncio.create_task(breaker.turn())
    await asyncio.sleep(0)
    assert not waits_again.done(), "who went away has left a place"
    waits_again.cancel()
