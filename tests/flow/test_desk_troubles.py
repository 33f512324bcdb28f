"""A full disk, an early death and an end in good order: who is told, who waits, who is blamed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from rag_core.conversation.key import Platform
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart, Outlet
from rag_core.desk.worker import Worker
from rag_core.errors import StorageError, StorageFull
from rag_core.storage.engines.database import Database
from rag_core.storage.ledger.ledger import QuestionLedger
from tests.fakes.desk import FullAtFirst
from tests.fakes.offices import NAME, QUICK, Office, asked, ledger_of

BRIEF = replace(QUICK, answer_seconds=0.1)
LEASE = timedelta(seconds=60)


class AlwaysFull(FullAtFirst):
    """A ledger whose disk has space for a question and for no answer."""

    refusals = 1_000_000


class FullAtThePost(QuestionLedger):
    """A ledger that has space for an answer, and at first none for its delivery."""

    refusals = 3

    async def begin_post(self, part: OutgoingPart) -> None:
        if self.refusals:
            self.refusals -= 1
            raise StorageFull("There is no space left.")
        await super().begin_post(part)


class Counter:
    """A door at which somebody stands and waits."""

    def __init__(self) -> None:
        self.excuses: list[Exception] = []

    async def excuse(self, question: IncomingQuestion, error: Exception) -> None:
        self.excuses.append(error)


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database, ledger_of(database))


def worker_with_a_door(office: Office, door: Counter) -> Worker:
    outlet = Outlet(renderer=office.renderer, replies=office.wall, excuses=door)
    return Worker(
        name=NAME,
        ledger=office.ledger,
        answers=office.answers,
        outlets=dict.fromkeys(Platform, outlet),
        bell=office.bell,
        observer=office.counts,
        limits=BRIEF,
    )


async def until(happened: Sequence[object]) -> None:
    async with asyncio.timeout(20):
        while not happened:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_who_stands_at_a_door_is_told_of_a_full_disk_within_the_deadline(
    database: Database,
) -> None:
    office, door = Office(database, AlwaysFull(database)), Counter()
    worker = worker_with_a_door(office, door)
    await office.desk.accept(asked("How?"))
    working = asyncio.create_task(worker.run())
    await until(door.excuses)
    worker.stop()
    await working
    assert [type(error) for error in door.excuses] == [StorageFull]
    assert await office.ledger.waiting() == 1, "the question is not lost"


async def test_on_a_platform_an_answer_waits_for_space_longer_than_it_took(
    database: Database,
) -> None:
    ledger = FullAtFirst(database)
    ledger.refusals = 20
    office = Office(database, ledger)
    await office.desk.accept(asked("How?"))
    async with office.at_work(BRIEF):
        await office.until_done()
    assert len(office.shown) == 2
    assert len(office.answers.asked) == 1


async def test_what_was_left_for_want_of_space_goes_on_before_its_claim_runs_out(
    database: Database,
) -> None:
    office = Office(database, FullAtThePost(database))
    await office.desk.accept(asked("How?"))
    async with office.at_work(BRIEF):  # a claim lasts for a minute
        await office.until_done()
    assert len(office.shown) == 2
    assert len(office.answers.asked) == 1


async def test_an_end_in_good_order_waits_for_no_space(database: Database) -> None:
    office = Office(database, AlwaysFull(database))
    worker = office.worker(replace(QUICK, full_disk_seconds=3600.0))
    await office.desk.accept(asked("How?"))
    working = asyncio.create_task(worker.run())
    await until(office.answers.asked)
    await asyncio.sleep(0.05)
    worker.stop()
    async with asyncio.timeout(20):
        await working
    office.ledger.refusals = 0  # type: ignore[attr-defined]
    async with office.at_work():
        await office.until_done()
    assert len(office.shown) == 2


async def test_an_answer_that_ends_with_its_process_in_good_order_is_no_attempt(
    office: Office,
) -> None:
    await office.desk.accept(asked("How?"))
    office.answers.thinks.clear()
    for _ in range(QUICK.answer_attempts + 2):
        working = asyncio.create_task(office.worker().run())
        await until(office.answers.asked)
        office.answers.asked.clear()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    office.answers.thinks.set()
    async with office.at_work():
        await office.until_done()
    assert not office.answers.given_up


async def test_a_storm_of_kills_uses_up_no_attempts(office: Office) -> None:
    """A process that dies young says nothing about the questions that it had."""
    await office.desk.accept(asked("How?"))
    for _ in range(QUICK.suspect_after):
        claim = await office.ledger.claim(worker=NAME, lease=LEASE)
        assert claim is not None
        await office.ledger.begin_answer(claim.question_id)
        await office.ledger.release(worker=NAME)
    for _ in range(QUICK.answer_attempts):
        working = asyncio.create_task(office.worker(replace(QUICK, suspect_calm_seconds=60)).run())
        await asyncio.sleep(0.05)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    assert not office.answers.asked, "it was begun by a process that had hardly begun itself"
    await office.desk.accept(asked("And how else?", thread="calm"))
    async with office.at_work():
        await office.until_done()
    assert len(office.answers.asked) == 2
    assert not office.answers.given_up


class Gone(FullAtFirst):
    """A database that cannot be used for a while."""

    refusals = 0
    claims = 5

    async def release(self, *, worker: str) -> int:
        if self.claims:
            self.claims -= 1
            raise StorageError("The disk failed.")
        return await super().release(worker=worker)


async def test_a_database_that_fails_at_the_start_is_said_once_and_waited_for(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    office = Office(database, Gone(database))
    await office.desk.accept(asked("How?"))
    with caplog.at_level(logging.INFO):
        async with office.at_work():
            await office.until_done()
    said = [record.message for record in caplog.records]
    assert said.count("no question is claimed: the database fails") == 1
    assert said.count("no question is claimed: the database works again") == 1
    assert len(office.shown) == 2
