"""Requests to Discord take turns: the most urgent first, and never too many at once."""

from __future__ import annotations

import asyncio

from adapters.discord.gateway.turns import Turns, Urgency


async def test_the_most_urgent_goes_first_whoever_came_first() -> None:
    turns, went = Turns(a_second=100, at_once=1), list[str]()

    async def go(name: str, level: Urgency) -> None:
        await turns.wait(level)
        went.append(name)

    await turns.wait(Urgency.ANSWER)  # from now on there is a queue
    async with asyncio.TaskGroup() as tasks:
        for name, level in (
            ("sign", Urgency.SIGN),
            ("further", Urgency.FURTHER_WORDS),
            ("first", Urgency.FIRST_WORDS),
            ("answer", Urgency.ANSWER),
            ("second answer", Urgency.ANSWER),
        ):
            tasks.create_task(go(name, level))
    assert went == ["answer", "second answer", "first", "further", "sign"]


async def test_a_turn_that_nobody_waits_for_any_more_is_given_to_the_next() -> None:
    turns = Turns(a_second=50, at_once=1)
    await turns.wait(Urgency.ANSWER)
    gone = asyncio.create_task(turns.wait(Urgency.ANSWER))
    await asyncio.sleep(0)
    waits = asyncio.create_task(turns.wait(Urgency.SIGN))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    async with asyncio.timeout(5):
        await waits


async def test_what_had_its_turn_does_not_wait_again() -> None:
    turns = Turns(a_second=1, at_once=1)
    await turns.wait(Urgency.ANSWER)
    async with asyncio.timeout(0.5):
        await turns.wait(Urgency.TAKEN)
