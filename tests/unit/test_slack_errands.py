"""What Slack need not wait for is done all the same, unless nobody misses it."""

from __future__ import annotations

import asyncio

import pytest

from adapters.slack.hearing.errands import Errands
from rag_core.errors import DeskFull, StorageError


async def test_what_is_owed_waits_its_turn_and_what_nobody_misses_is_left() -> None:
    done: list[str] = []
    hold = asyncio.Event()

    async def work(name: str) -> None:
        await hold.wait()
        done.append(name)

    async with Errands(most=2, most_owed=4) as errands:
        for name in ("a", "b", "c"):
            errands.start(work(name))
        errands.offer(work("a sign"))
        errands.start(work("d"))
        with pytest.raises(DeskFull):
            errands.start(work("e"))
        hold.set()
    assert done == ["a", "b", "c", "d"]


async def test_one_that_fails_gives_its_place_to_the_next(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[str] = []

    async def fails(error: Exception) -> None:
        raise error

    async def works() -> None:
        done.append("yes")

    async with Errands(most=1) as errands:
        errands.start(fails(StorageError("No.")))
        errands.start(fails(KeyError("a bug")))
        errands.start(works())
    assert done == ["yes"]
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR"]
