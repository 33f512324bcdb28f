"""Nobody waits in silence: bounds, long answers, long queues and changed sources are told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from rag_core.books.book import Book, BookIds
from rag_core.conversation.key import Platform
from rag_core.desk.desk import Desk
from rag_core.desk.limits import Bounds
from rag_core.desk.living import LivingAnswers
from rag_core.desk.notices import NOTICES, notices_in
from rag_core.desk.outgoing import Outlet
from rag_core.desk.queue_watch import QueueWatch
from rag_core.desk.room import Room
from rag_core.errors import StorageFull, UpstreamRejected, UpstreamUnavailable
from rag_core.ingestion.job import IngestionJob, IngestionMode, JobStatus
from rag_core.retrieval.results import SearchResult
from rag_core.storage.books import Books
from rag_core.storage.engines.database import Database
from rag_core.storage.jobs import Jobs
from rag_core.storage.ledger.ledger import QuestionLedger
from rag_core.storage.markers import Markers
from tests.builders import a_result
from tests.fakes.offices import QUICK, Office, asked, ledger_of


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database, ledger_of(database))


async def test_the_one_notice_of_a_bound_stands_where_the_answer_would(
    database: Database,
) -> None:
    office = Office(database, ledger_of(database), bounds=Bounds(user_hour=1))
    for number in range(4):
        await office.desk.accept(asked("How?", thread=str(number)))
    async with office.at_work():
        await office.until_done()
    assert sorted(office.shown) == [
        "Declined: user. (1/2)",
        "Declined: user. (2/2)",
        "Re: How? [1] (1/2)",
        "Re: How? [1] (2/2)",
    ]
    assert len(office.answers.asked) == 1


async def test_who_waits_for_a_long_answer_hears_that_it_is_worked_on(office: Office) -> None:
    office.answers.thinks.clear()
    await office.desk.accept(replace(asked("How?"), locale="de"))
    async with office.at_work(replace(QUICK, still_working_seconds=0.05)):
        async with asyncio.timeout(20):
            while not office.wall.said:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        office.answers.thinks.set()
        await office.until_done()
    assert set(office.wall.said) == {notices_in("de").still_working}
    assert not office.wall.signs, "every way out ends the sign"


async def test_an_answer_that_never_comes_is_given_up_by_its_deadline(office: Office) -> None:
    office.answers.thinks.clear()
    await office.desk.accept(asked("How?"))
    async with office.at_work(replace(QUICK, answer_seconds=0.05, deadline_margin=0.05)):
        await office.until_done()
    assert office.shown == ["Sorry. (1/2)", "Sorry. (2/2)"]
    assert not office.wall.signs


def long_waiting(office: Office) -> QueueWatch:
    """Everybody who waits has waited for long."""
    outlet = Outlet(renderer=office.renderer, replies=office.wall)
    limits = replace(QUICK, queue_seconds=-1.0)
    return QueueWatch(ledger=office.ledger, outlets={Platform.WEB: outlet}, limits=limits)


async def test_who_waits_long_in_the_queue_is_told_until_the_answer_comes(
    office: Office,
) -> None:
    await office.desk.accept(asked("How?"))
    watch = long_waiting(office)
    await watch.look()
    await watch.look()
    assert office.shown == [f"plain: {notices_in('en').long_queue}"]
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]


async def test_a_notice_of_unknown_outcome_is_taken_away_all_the_same(office: Office) -> None:
    await office.desk.accept(asked("How?"))
    office.wall.troubles = [UpstreamUnavailable("slack")]
    office.wall.takes_effect = True
    await long_waiting(office).look()
    assert len(office.shown) == 1
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]


async def test_a_notice_that_was_refused_is_not_looked_for(office: Office) -> None:
    await office.desk.accept(asked("How?"))
    office.wall.troubles = [UpstreamRejected("slack", "ratelimited", retryable=True)]
    await long_waiting(office).look()
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]
    assert office.wall.look_ups == 0


async def test_where_a_notice_could_not_be_taken_away_in_time_there_is_none(
    office: Office,
) -> None:
    """Else the answers of a full hour would wait for the room to take away its notices."""
    await office.desk.accept(asked("How?"))
    office.wall.room_for_notices = 0
    await long_waiting(office).look()
    assert office.shown == []
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]


async def test_a_notice_that_was_not_posted_leaves_its_room_to_others(office: Office) -> None:
    office.wall.room_for_notices = 1
    office.wall.troubles = [UpstreamRejected("slack", "channel_not_found")]
    await office.desk.accept(asked("How?"))
    await long_waiting(office).look()
    assert office.shown == []
    await office.desk.accept(asked("Why?", position="2"))
    await long_waiting(office).look()
    assert office.shown == [f"plain: {notices_in('en').long_queue}"]
    assert office.wall.room_for_notices == 0


async def test_a_disk_that_is_nearly_full_accepts_nothing(office: Office, tmp_path: Path) -> None:
    room = Room(tmp_path, least=2**62)
    desk = Desk(ledger=office.ledger, bell=office.bell, observer=office.counts, room=room)
    with pytest.raises(StorageFull, match="free"):
        await desk.accept(asked("How?"))
    assert await office.ledger.waiting() == 0
    assert Room(tmp_path, least=0).is_enough


@pytest.mark.parametrize("locale", ["de-AT", "es", "fr_FR", "en", "xx"])
def test_every_language_says_everything(locale: str) -> None:
    notices = notices_in(locale)
    assert "{id}" in notices.not_shown
    assert notices in NOTICES.values()


class Shelf:
    """An index that holds these passages."""

    def __init__(self, *chunk_ids: str) -> None:
        self.chunk_ids = set(chunk_ids)

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]:
        return {one: a_result(chunk_id=one) for one in chunk_ids if one in self.chunk_ids}


def living(office: Office, database: Database, shelf: Shelf) -> LivingAnswers:
    outlet = Outlet(renderer=office.renderer, replies=office.wall)
    return LivingAnswers(
        ledger=office.ledger,
        books=Books(database),
        jobs=Jobs(database),
        passages=shelf,  # type: ignore[arg-type]  # as much of an index as is needed
        markers=Markers(database),
        outlets={Platform.WEB: outlet},
        bell=office.bell,
    )


async def ingested(database: Database) -> None:
    await Books(database).save(Book(book_id="course", title="Course"))
    now = datetime.now(UTC)
    job = IngestionJob(
        job_id=uuid4(),
        book_id="course",
        mode=IngestionMode.INCREMENTAL,
        status=JobStatus.COMPLETED,
        started_at=now,
        completed_at=now,
        sources=("course",),
    )
    await Jobs(database).save(job)


async def test_an_answer_whose_source_changed_says_so_in_its_last_part(
    office: Office, database: Database
) -> None:
    receipt = await office.desk.accept(asked("How?"))
    shelf = Shelf("chunk-1")
    watch = living(office, database, shelf)
    async with office.at_work():
        await office.until_done()
        await ingested(database)
        await watch.look()
        await office.until_done()
        assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]
        shelf.chunk_ids.clear()
        await watch.look()
        await office.until_done()
        assert office.wall.edits == 0, "nothing was ingested since"
        await ingested(database)
        await watch.look()
        await office.until_done()
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2, changed)"]
    assert office.wall.edits == 1
    response = await office.ledger.response_to(receipt.question_id)
    assert response is not None
    assert response.source_changed
    assert await office.desk.ask_again(response.answer_id, asker_id="asker-1")
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]


class MarkingLedger(QuestionLedger):
    """Notes which passages are marked as gone, and which are looked at."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.marked: list[str] = []
        self.looked_at: list[str] = []

    async def cited_after(self, chunk_id: str, *, limit: int) -> Sequence[str]:
        cited = await super().cited_after(chunk_id, limit=limit)
        self.looked_at += cited
        return cited

    async def mark_changed(self, chunk_ids: Sequence[str]) -> int:
        self.marked += chunk_ids
        return await super().mark_changed(chunk_ids)


async def test_what_is_gone_is_marked_once_however_many_jobs_follow(database: Database) -> None:
    ledger = MarkingLedger(database)
    office, shelf = Office(database, ledger), Shelf("chunk-1")
    watch = living(office, database, shelf)
    await office.desk.accept(asked("How?"))
    async with office.at_work():
        await office.until_done()
        await ingested(database)
        await watch.look()
        assert (ledger.looked_at, ledger.marked) == (["chunk-1"], [])
        shelf.chunk_ids.clear()
        for _ in range(3):
            await ingested(database)
            await watch.look()
            await office.until_done()
    assert ledger.marked == ["chunk-1"]
    assert ledger.looked_at == ["chunk-1", "chunk-1"], "a marked answer is not looked at again"
    assert office.wall.edits == 1


async def test_a_marked_answer_whose_message_is_gone_is_not_posted_anew(
    office: Office, database: Database
) -> None:
    await office.desk.accept(asked("How?"))
    async with office.at_work():
        await office.until_done()
        office.wall.posted.clear()
        await ingested(database)
        await living(office, database, Shelf()).look()
        await office.until_done()
    assert office.shown == []
    assert office.wall.edits == 1
