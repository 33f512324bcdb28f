"""The graph is built when it is quiet, and waits longer where writes keep stopping it."""

from __future__ import annotations

import asyncio

from rag_core.providers.edge.building import Building

QUIET = 0.01


class Builds:
    """Begins, and ends when it may."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.whole = 0

    async def build(self) -> None:
        self.begun.set()
        await self.may_end.wait()
        self.whole += 1


async def waited(builds: Builds, building: Building) -> float:
    """How long it was quiet before the work began."""
    builds.begun.clear()
    loop = asyncio.get_running_loop()
    at = loop.time()
    building.soon()
    await builds.begun.wait()
    return loop.time() - at


async def test_each_write_that_stops_the_work_doubles_the_quiet_it_waits_for() -> None:
    builds = Builds()
    building = Building(builds.build, quiet_seconds=QUIET)
    for times in (1, 2, 4, 8):
        assert await waited(builds, building) >= times * QUIET * 0.9  # a loop's clock is coarse
        await building.stop()
    assert builds.whole == 0


async def test_a_write_before_the_work_began_costs_no_patience() -> None:
    builds = Builds()
    builds.may_end.set()
    building = Building(builds.build, quiet_seconds=QUIET)
    for _ in range(40):  # were each of them to double it, this would never end
        building.soon()
        await building.stop()
    building.soon()
    await building.settled()
    assert builds.whole == 1


async def test_after_a_whole_build_the_usual_quiet_is_enough() -> None:
    builds = Builds()
    building = Building(builds.build, quiet_seconds=QUIET)
    for _ in range(3):
        await waited(builds, building)
        await building.stop()
    builds.may_end.set()
    building.soon()
    await building.settled()
    builds.begun.clear()
    building.soon()
    await asyncio.sleep(4 * QUIET)  # timers of one loop ring in order: 8 * QUIET would be later
    assert builds.begun.is_set()
    await building.settled()
    assert builds.whole == 2
