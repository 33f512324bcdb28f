"""A claim lasts as long as its work does, and work ends with its claim."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from rag_core.conversation.key import Platform
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart, Outlet
from rag_core.desk.timed_replies import TimedReplies
from rag_core.storage.engines.database import Database
from rag_core.storage.ledger.ledger import QuestionLedger
from tests.fakes.desk import Wall
from tests.fakes.offices import NAME, QUICK, Office, asked

LEASE_SECONDS = 0.3
SHORT = replace(QUICK, answer_seconds=LEASE_SECONDS, lease_margin=timedelta())


class SlowWall(Wall):
    """A platform that takes a message only when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.lets = asyncio.Event()
        self.reached = asyncio.Event()
        self.waiting = 0

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        self.reached.set()
        self.waiting += 1
        await self.lets.wait()
        self.waiting -= 1
        return await super().post(question, part)


@pytest.fixture
def office(database: Database) -> Office:
    office = Office(database, QuestionLedger(database))
    office.wall = SlowWall()
    return office


@pytest.fixture
def wall(office: Office) -> SlowWall:
    assert isinstance(office.wall, SlowWall)
    return office.wall


async def test_a_platform_slower_than_a_claim_gets_each_message_once(
    office: Office, wall: SlowWall
) -> None:
    await office.desk.accept(asked("How?"))
    async with office.at_work(SHORT):
        async with asyncio.timeout(20):
            await wall.reached.wait()
        await asyncio.sleep(3 * LEASE_SECONDS)
        wall.lets.set()
        await office.until_done()
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]
    assert wall.attempts == 2, "nobody else took the question up meanwhile"


async def test_a_call_that_comes_to_no_end_keeps_nobody_for_ever(
    office: Office, wall: SlowWall
) -> None:
    """Whether it took effect is looked up, like that of any call without an answer."""
    await office.desk.accept(asked("How?"))
    office.replies = TimedReplies(wall, longest_seconds=0.05)
    async with office.at_work():
        async with asyncio.timeout(20):
            while not wall.look_ups:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        assert office.shown == []
        wall.lets.set()
        await office.until_done()
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]


async def test_a_platform_that_does_not_answer_leaves_hands_for_the_others(
    office: Office, wall: SlowWall
) -> None:
    limits = replace(QUICK, parallel=8)
    stuck = [asked("How?", thread=f"stuck-{number}") for number in range(3 * limits.parallel)]
    for question in stuck:
        on_slack = replace(question.key, platform=Platform.SLACK)
        await office.desk.accept(replace(question, key=on_slack))
    for_others = Wall()
    office.outlets[Platform.DISCORD] = Outlet(renderer=office.renderer, replies=for_others)
    async with office.at_work(limits):
        async with asyncio.timeout(20):
            while wall.waiting < limits.of_one_platform:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            late = asked("And here?", thread="late")
            await office.desk.accept(
                replace(late, key=replace(late.key, platform=Platform.DISCORD))
            )
            while len(for_others.posted) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        assert wall.waiting == limits.of_one_platform < limits.parallel
        wall.lets.set()
        await office.until_done()
    assert len(office.shown) == 2 * len(stuck)


async def test_nothing_is_posted_by_whose_claim_has_gone_to_another(
    office: Office, wall: SlowWall
) -> None:
    await office.desk.accept(asked("How?"))
    async with office.at_work(SHORT):
        async with asyncio.timeout(20):
            await wall.reached.wait()
        await office.ledger.release(worker=NAME)  # as if its process had stood still for long
        taken = await office.ledger.claim(worker="another", lease=timedelta(seconds=60))
        await asyncio.sleep(LEASE_SECONDS)
        wall.lets.set()
        await asyncio.sleep(LEASE_SECONDS)
    assert taken is not None
    assert office.shown == []
