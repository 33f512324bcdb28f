"""The way to the desk: a place for each in turn, and nobody grows in memory without end."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import pytest

from adapters.discord.hearing.entrance import Entrance
from rag_core.errors import DeskFull


async def test_so_many_are_at_the_desk_and_the_others_follow() -> None:
    entrance, at_once, most = Entrance(at_once=3), 0, 0

    async def ask(number: int) -> None:
        nonlocal at_once, most
        with entrance.coming(str(number)):
            async with entrance.turn():
                at_once += 1
                most = max(most, at_once)
                await asyncio.sleep(0)
                at_once -= 1

    await asyncio.gather(*(ask(number) for number in range(20)))
    assert most == 3


async def test_a_line_that_is_too_long_is_refused_until_it_is_shorter() -> None:
    entrance = Entrance(longest_line=2)
    with ExitStack() as coming:
        for number in range(3):
            coming.enter_context(entrance.coming(str(number)))
        with pytest.raises(DeskFull):
            async with entrance.turn():
                pass
    with entrance.coming("later"):
        async with entrance.turn():
            pass


async def test_what_is_done_to_a_message_waits_for_that_message_alone() -> None:
    entrance = Entrance()
    with entrance.coming("1"):
        waiting = asyncio.create_task(entrance.has_come("1"))
        await entrance.has_come("2")
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting
