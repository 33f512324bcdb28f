"""Messages to one Slack channel keep their distance, whoever wakes up late."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from time import monotonic

import pytest

from adapters.slack.calling.lines import ComesLater
from adapters.slack.calling.pace import Pace

A_SECOND = 0.1
"""What stands for Slack's second here."""


async def test_who_is_in_line_already_waits_as_long_as_slack_says() -> None:
    pace = Pace(A_SECOND)
    await pace.turn("C1")
    in_line = asyncio.create_task(pace.turn("C1"))
    await asyncio.sleep(0)
    held_at = monotonic()
    pace.hold("C1", 4 * A_SECOND)
    await in_line
    assert monotonic() - held_at >= 4 * A_SECOND


async def test_a_message_that_was_late_is_not_followed_too_closely() -> None:
    pace, sent = Pace(A_SECOND), list[float]()

    async def send() -> None:
        await pace.turn("C1")
        sent.append(monotonic())

    for_three = asyncio.gather(*(send() for _ in range(3)))
    await asyncio.sleep(A_SECOND / 2)
    time.sleep(1.5 * A_SECOND)  # noqa: ASYNC251 - the loop itself stands still: the second is late
    await for_three
    assert all(later - sooner >= A_SECOND for sooner, later in pairwise(sent))


async def test_channels_do_not_wait_for_each_other() -> None:
    pace = Pace(3_600.0)
    async with asyncio.timeout(60):
        await pace.turn("C1")
        await pace.turn("C2")


async def test_who_gives_up_in_line_takes_no_turn() -> None:
    pace = Pace(A_SECOND)
    await pace.turn("C1")
    gives_up = asyncio.create_task(pace.turn("C1"))
    await asyncio.sleep(0)
    gives_up.cancel()
    await asyncio.gather(gives_up, return_exceptions=True)
    async with asyncio.timeout(60):
        await pace.turn("C1")


async def test_nobody_stands_and_waits_for_a_turn_that_is_far_away() -> None:
    """Whoever waited would hold one of the hands that answer everybody."""
    pace = Pace(0.0)
    pace.hold("C1", 3_600.0)
    with pytest.raises(ComesLater) as told:
        await pace.turn("C1", at_most=10.0)
    assert told.value.seconds == pytest.approx(3_600.0, abs=60.0)
    await pace.turn("C2", at_most=10.0)


async def test_a_line_that_is_too_long_is_not_joined() -> None:
    pace = Pace(4.0)
    await pace.turn("C1")
    in_line = [asyncio.create_task(pace.turn("C1", at_most=10.0)) for _ in range(5)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert [task.done() for task in in_line] == [False, False, True, True, True]
    for task in in_line:
        task.cancel()
    ends = await asyncio.gather(*in_line, return_exceptions=True)
    assert [type(end) for end in ends[2:]] == [ComesLater] * 3


async def test_who_is_in_line_leaves_it_when_slack_lets_the_channel_wait_for_long() -> None:
    pace = Pace(A_SECOND)
    await pace.turn("C1")
    in_line = asyncio.create_task(pace.turn("C1", at_most=10.0))
    await asyncio.sleep(0)
    pace.hold("C1", 3_600.0)
    with pytest.raises(ComesLater):
        await in_line
