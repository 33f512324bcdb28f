"""Sources are read again in their time, on a signal, and never twice at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from rag_core.books.source import BookSource, span_of
from rag_core.errors import InvalidQuestion, StorageError
from rag_core.ingestion.job import FileFailure, IngestionJob, JobStatus
from rag_core.ingestion.pipeline import IngestionRequest
from rag_core.ingestion.timetable import Timetable
from tests.builders import NOON
from tests.fakes.ingestion_stores import MemoryJobs, MemorySources

HOURLY = BookSource(
    source_id=uuid4(),
    book_id="course",
    location="/docs",
    added_at=NOON,
    every=timedelta(hours=1),
    next_at=NOON,
)


@dataclass
class Readings:
    """An ingestion whose jobs end when they are told to."""

    jobs: MemoryJobs
    started: list[IngestionRequest] = field(default_factory=list)
    ids: list[UUID] = field(default_factory=list)
    ends: dict[UUID, asyncio.Event] = field(default_factory=dict)
    resumed: int = 0

    async def start(self, request: IngestionRequest) -> IngestionJob:
        self.started.append(request)
        job = IngestionJob(
            job_id=uuid4(),
            book_id=request.book_id,
            mode=request.mode,
            status=JobStatus.RUNNING,
            started_at=NOON,
            sources=request.sources,
        )
        await self.jobs.save(job)
        self.ids.append(job.job_id)
        self.ends[job.job_id] = asyncio.Event()
        return job

    async def wait(self, job_id: UUID) -> IngestionJob:
        if job_id in self.ends:
            await self.ends[job_id].wait()
        job = await self.jobs.get(job_id)
        assert job is not None
        return job

    async def resume(self) -> None:
        self.resumed += 1

    async def end(self, number: int, **changes: object) -> None:
        job = await self.jobs.get(self.ids[number])
        assert job is not None
        over = {"status": JobStatus.COMPLETED, "completed_at": NOON + timedelta(minutes=number)}
        await self.jobs.save(replace(job, **(over | changes)))  # type: ignore[arg-type]
        self.ends[job.job_id].set()
        await settled()


@dataclass
class Bench:
    """A timetable with its own clock."""

    now: datetime = NOON
    sources: MemorySources = field(default_factory=MemorySources)
    jobs: MemoryJobs = field(default_factory=MemoryJobs)
    spread: float = 1.0

    def __post_init__(self) -> None:
        self.readings = Readings(self.jobs)
        self.timetable = Timetable(
            sources=self.sources,
            jobs=self.jobs,
            ingestion=self.readings,
            clock=lambda: self.now,
            spread=lambda: self.spread,
        )

    async def later(self, by: timedelta) -> None:
        self.now += by
        self.timetable.ring()
        await settled()

    async def source(self) -> BookSource:
        found = await self.sources.get(HOURLY.source_id)
        assert found is not None
        return found

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.timetable.run())
        await settled()
        yield
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_a_source_is_read_when_it_is_due_and_again_in_its_time(bench: Bench) -> None:
    await bench.sources.add(HOURLY)
    bench.spread = 1.1
    async with bench.running():
        assert [request.sources for request in bench.readings.started] == [("/docs",)]
        await bench.readings.end(0)
        assert (await bench.source()).next_at == NOON + timedelta(hours=1.1)
        await bench.later(timedelta(hours=1))
        assert len(bench.readings.started) == 1
        await bench.later(timedelta(hours=0.1))
        assert len(bench.readings.started) == 2


async def test_a_source_without_a_span_is_read_once_and_then_on_a_signal(bench: Bench) -> None:
    await bench.sources.add(replace(HOURLY, every=None))
    async with bench.running():
        await bench.readings.end(0)
        assert (await bench.source()).next_at is None
        await bench.later(timedelta(days=40_000))
        assert len(bench.readings.started) == 1
        await bench.timetable.read("course")
        assert len(bench.readings.started) == 2


async def test_it_is_remembered_how_a_reading_ended(bench: Bench) -> None:
    await bench.sources.add(HOURLY)
    async with bench.running():
        await bench.readings.end(0, status=JobStatus.FAILED, error_message="It is away.")
        failed = await bench.source()
        assert (failed.last_failure, failed.last_error) == (NOON, "It is away.")
        assert failed.last_success is None
        assert failed.last_job_id == bench.readings.ids[0]
        await bench.later(timedelta(hours=1))
        named = FileFailure(source_file="/docs", reason="It could not be pulled.")
        await bench.readings.end(1, failures=(named,))
        assert (await bench.source()).last_error == "It could not be pulled."
        await bench.later(timedelta(hours=1))
        page = FileFailure(source_file="page.md", reason="It is not text.")
        await bench.readings.end(2, failures=(page,))
        read = await bench.source()
        assert (read.last_success, read.last_error) == (NOON + timedelta(minutes=2), "")
        assert read.last_failure == NOON + timedelta(minutes=1)


async def test_signals_while_a_source_is_read_lead_to_one_more_reading(bench: Bench) -> None:
    await bench.sources.add(replace(HOURLY, every=None, next_at=None))
    async with bench.running():
        first = await bench.timetable.read("course")
        again = [await bench.timetable.read("course") for _ in range(5)]
        assert [[job.job_id for job in jobs] for jobs in again] == [[first[0].job_id]] * 5
        assert len(bench.readings.started) == 1
        await bench.readings.end(0)
        assert len(bench.readings.started) == 2
        await bench.readings.end(1)
        assert len(bench.readings.started) == 2
        assert await bench.timetable.read("another") == []


async def test_two_processes_do_not_read_a_source_at_the_same_time(bench: Bench) -> None:
    await bench.sources.add(HOURLY)
    other = Bench(sources=bench.sources, jobs=bench.jobs)
    async with bench.running(), other.running():
        assert len(bench.readings.started) + len(other.readings.started) == 1


async def test_the_end_of_a_job_of_an_earlier_process_is_learnt(bench: Bench) -> None:
    job = await bench.readings.start(IngestionRequest(book_id="course", sources=("/docs",)))
    await bench.sources.add(replace(HOURLY, next_at=None, last_job_id=job.job_id))
    async with bench.running():
        assert bench.readings.resumed == 1
        await bench.readings.end(0)
        assert (await bench.source()).last_success == NOON


async def test_a_source_that_was_removed_meanwhile_stays_removed(bench: Bench) -> None:
    await bench.sources.add(HOURLY)
    async with bench.running():
        await bench.sources.remove(HOURLY.source_id)
        await bench.readings.end(0)
        assert await bench.sources.all() == []


async def test_a_database_that_is_away_is_waited_for(bench: Bench) -> None:
    bench.sources.trouble = StorageError("away")
    await bench.sources.add(HOURLY)
    async with bench.running():
        assert bench.readings.started == []
        bench.sources.trouble = None
        await bench.later(timedelta())
        assert len(bench.readings.started) == 1


@pytest.mark.parametrize(
    ("text", "span"),
    [("5m", timedelta(minutes=5)), (" 6H ", timedelta(hours=6)), ("90d", timedelta(days=90))],
)
def test_spans_are_written_as_people_do(text: str, span: timedelta) -> None:
    assert span_of(text) == span


@pytest.mark.parametrize("text", ["", "4m", "91d", "6", "h", "-6h", "6w", "1.5h", "999999m"])
def test_other_spans_are_refused_with_the_rule(text: str) -> None:
    with pytest.raises(InvalidQuestion, match="m, h or d, from 5m to 90d"):
        span_of(text)


class SlowToStart(Readings):
    """An ingestion that takes a moment to write a job down, and may have a defect."""

    def __init__(self, jobs: MemoryJobs) -> None:
        super().__init__(jobs)
        self.may_start = asyncio.Event()
        self.defects: list[Exception] = []

    async def start(self, request: IngestionRequest) -> IngestionJob:
        await self.may_start.wait()
        return await super().start(request)

    async def wait(self, job_id: UUID) -> IngestionJob:
        job = await super().wait(job_id)
        if self.defects:
            raise self.defects.pop()
        return job


@pytest.fixture
def slow(bench: Bench) -> SlowToStart:
    slow = bench.readings = SlowToStart(bench.jobs)
    bench.timetable = Timetable(
        sources=bench.sources, jobs=bench.jobs, ingestion=slow, clock=lambda: bench.now
    )
    return slow


async def test_signals_at_the_same_moment_start_one_job(bench: Bench, slow: SlowToStart) -> None:
    await bench.sources.add(replace(HOURLY, every=None, next_at=None))
    async with bench.running():
        asked = [asyncio.create_task(bench.timetable.read("course")) for _ in range(3)]
        await settled()
        asked[0].cancel()  # the first to ask does not wait for it: the others still do
        slow.may_start.set()
        await settled()
        assert len(slow.started) == 1
        assert [job.job_id for ask in asked[1:] for job in await ask] == [slow.ids[0]] * 2
        await slow.end(0)
        assert len(slow.started) == 2, "what came meanwhile is read once more"
        await slow.end(1)
        assert len(slow.started) == 2


async def test_a_source_whose_run_met_a_defect_is_read_again(
    bench: Bench, slow: SlowToStart
) -> None:
    slow.may_start.set()
    slow.defects = [TypeError("a defect")]
    await bench.sources.add(replace(HOURLY, every=None, next_at=None))
    async with bench.running():
        await bench.timetable.read("course")
        await bench.timetable.read("course")
        await slow.end(0)
        assert len(slow.started) == 2, "the signal that came meanwhile is not lost"
        await slow.end(1)
        [job] = await bench.timetable.read("course")
        assert job.job_id == slow.ids[2]
        assert len(slow.started) == 3
