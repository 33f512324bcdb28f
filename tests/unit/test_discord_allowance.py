"""How the room in one of Discord's buckets is used, by what its answers tell."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import discord
import pytest

from adapters.discord.gateway.allowance import Allowance

LONGEST = 30.0


def told(remaining: int, seconds: float, *, limit: int = 5) -> Any:
    """An answer's headers."""
    headers = {
        "X-Ratelimit-Limit": str(limit),
        "X-Ratelimit-Remaining": str(remaining),
        "X-Ratelimit-Reset-After": str(seconds),
    }
    return SimpleNamespace(headers=headers)


async def ask(bucket: Allowance, answer: Any = None) -> None:
    async with bucket:
        if answer is not None:
            bucket.update(answer)


async def test_room_in_a_long_window_is_used() -> None:
    bucket = Allowance(LONGEST)
    for left in (4, 3, 2, 1, 0):
        await ask(bucket, told(left, 300.0))


async def test_a_full_window_that_is_long_is_handed_back_until_it_ends() -> None:
    bucket = Allowance(LONGEST)
    await ask(bucket, told(0, 300.0))
    for _ in range(3):
        with pytest.raises(discord.RateLimited) as refused:
            await ask(bucket)
        assert LONGEST < refused.value.retry_after <= 300.0


async def test_a_full_window_that_is_short_is_waited_for_and_the_answer_before_is_not() -> None:
    bucket = Allowance(LONGEST)
    await ask(bucket, told(0, 0.2))
    waits = asyncio.create_task(ask(bucket, told(4, 5.0)))
    await asyncio.sleep(0.05)
    assert not waits.done()
    async with asyncio.timeout(5):
        await waits


async def test_who_comes_before_the_first_answer_waits_for_what_it_tells() -> None:
    bucket, running = Allowance(LONGEST), list[int]()

    async def request(number: int) -> None:
        async with bucket:
            running.append(number)
            await asyncio.sleep(0.01)
            bucket.update(told(3 - number, 5.0))

    async with asyncio.TaskGroup() as tasks:
        for number in range(3):
            tasks.create_task(request(number))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert running == [0]
    assert running == [0, 1, 2]


async def test_answers_that_tell_of_no_limit_let_one_after_the_other() -> None:
    bucket = Allowance(LONGEST)
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        for _ in range(20):
            tasks.create_task(ask(bucket))
    assert bucket.outgoing == 0


async def test_who_gives_up_waiting_takes_no_room() -> None:
    bucket = Allowance(LONGEST)
    await ask(bucket, told(0, 0.2))
    gone = asyncio.create_task(ask(bucket))
    await asyncio.sleep(0.01)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    async with asyncio.timeout(5):
        await ask(bucket, told(4, 5.0))
    assert (bucket.remaining, bucket.outgoing) == (4, 0)
