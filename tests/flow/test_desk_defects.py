"""A defect of our own, wherever it shows: it is logged, and costs nobody else anything."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from rag_core.conversation.key import Platform
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OpenQuestion, Outlet
from rag_core.desk.queue_watch import QueueWatch
from rag_core.storage.engines.database import Database
from rag_core.storage.ledger.ledger import QuestionLedger
from tests.fakes.desk import FullAtFirst
from tests.fakes.offices import QUICK, Office, asked
from tests.flow.test_desk_claims import SlowWall


class Defective(QuestionLedger):
    """A ledger with a defect in the step that a test names; how often it was met."""

    step = ""
    times = 1
    met = 0

    def _maybe(self, step: str) -> None:
        if step == self.step and self.met < self.times:
            self.met += 1
            raise TypeError("a defect")

    async def renew(self, question_id: UUID, *, worker: str, lease: timedelta) -> bool:
        self._maybe("renew")
        return await super().renew(question_id, worker=worker, lease=lease)

    async def claim(
        self, *, worker: str, lease: timedelta, but_not: Collection[Platform] = ()
    ) -> OpenQuestion | None:
        self._maybe("claim")
        return await super().claim(worker=worker, lease=lease, but_not=but_not)


class BrokenDoor:
    """A door whose own words for who waits have a defect."""

    def __init__(self) -> None:
        self.tried = 0

    async def excuse(self, question: IncomingQuestion, error: Exception) -> None:
        self.tried += 1
        raise TypeError("a defect")


async def test_a_defect_in_a_renewal_loses_no_claim(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Defective(database)
    office, wall = Office(database, ledger), SlowWall()
    office.wall = wall
    await office.desk.accept(asked("How?"))
    lease = replace(QUICK, answer_seconds=3, lease_margin=timedelta())
    async with office.at_work(lease):
        async with asyncio.timeout(20):
            await wall.reached.wait()
        ledger.step = "renew"  # from now on: whoever claimed it renews it while it is posted
        async with asyncio.timeout(20):
            while not ledger.met:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        wall.lets.set()
        async with asyncio.timeout(1.5):  # half of what the claim would still last
            await office.until_done()
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]
    assert wall.attempts == 2
    assert "claim not renewed by a defect" in [record.message for record in caplog.records]


async def test_a_defect_where_a_failure_is_told_ends_no_worker(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = FullAtFirst(database)
    office, door = Office(database, ledger), BrokenDoor()
    office.outlets[Platform.WEB] = Outlet(
        renderer=office.renderer, replies=office.wall, excuses=door
    )
    brief = replace(QUICK, answer_seconds=0.1)
    await office.desk.accept(asked("How?"))
    ledger.refusals = 1_000_000
    async with office.at_work(brief):
        async with asyncio.timeout(20):
            while not door.tried:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        ledger.refusals = 0
        await office.desk.accept(asked("And how else?", thread="another"))
        async with asyncio.timeout(20):
            while len(office.shown) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
    assert "question not set aside by a defect" in [record.message for record in caplog.records]


async def test_a_defect_in_a_claim_is_logged_once_and_waited_out(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Defective(database)
    ledger.step, ledger.times = "claim", 5
    office = Office(database, ledger)
    await office.desk.accept(asked("How?"))
    with caplog.at_level(logging.INFO):
        async with office.at_work():
            await office.until_done()
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]
    said = [record.message for record in caplog.records]
    assert said.count("no question is claimed: a defect") == 1


async def test_a_defect_in_a_look_at_the_queue_is_not_the_last_look(database: Database) -> None:
    looks = asyncio.Event()

    class Once(QueueWatch):
        met = False

        async def look(self) -> None:
            if not self.met:
                self.met = True
                raise TypeError("a defect")
            looks.set()

    limits = replace(QUICK, queue_look_seconds=0.01)
    watch = asyncio.create_task(
        Once(ledger=QuestionLedger(database), outlets={}, limits=limits).run()
    )
    async with asyncio.timeout(20):
        await looks.wait()
    watch.cancel()
    await asyncio.gather(watch, return_exceptions=True)
