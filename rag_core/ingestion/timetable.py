"""Reads the sources of the books again: each in its time, or when something tells it to."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar
from uuid import UUID

from rag_core.books.source import BookSource
from rag_core.errors import FootnoteError
from rag_core.ingestion.gathering import CHECKOUT
from rag_core.ingestion.job import IngestionJob, JobStatus
from rag_core.ingestion.pipeline import IngestionRequest
from rag_core.ports import JobStore, SourceStore

log = logging.getLogger(__name__)

Result = TypeVar("Result")

LONGEST_WAIT = 60.0
"""Seconds; another process may have changed the timetable meanwhile."""
SPREAD = 0.1
"""How far from its time a source may be read, as a share of its span: not all at once."""


class RunsJobs(Protocol):
    """The ingestion."""

    async def start(self, request: IngestionRequest) -> IngestionJob: ...

    async def wait(self, job_id: UUID) -> IngestionJob: ...

    async def resume(self) -> None: ...


@dataclass(slots=True)
class ActiveRun:
    """A source that is being read; what changes meanwhile is read right after, once."""

    job: asyncio.Task[IngestionJob]
    """It is being started, or is there."""
    again: bool = False


class Timetable:
    """Starts a job for each source that is due, and remembers how it went."""

    def __init__(
        self,
        *,
        sources: SourceStore,
        jobs: JobStore,
        ingestion: RunsJobs,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        spread: Callable[[], float] = lambda: spread_out(random.SystemRandom()),
    ) -> None:
        self._sources = sources
        self._jobs = jobs
        self._ingestion = ingestion
        self._clock = clock
        self._spread = spread
        self._bell = asyncio.Event()
        self._runs: dict[UUID, ActiveRun] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def ring(self) -> None:
        """Look at the timetable now: it has changed."""
        self._bell.set()

    async def run(self) -> None:
        """Take up what was cut off, then read what is due, until cancelled."""
        await self._ingestion.resume()
        try:
            await self._patiently(self._catch_up())
            while True:
                self._bell.clear()
                wait = await self._patiently(self._start_due()) or LONGEST_WAIT
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._bell.wait()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def read(self, book_id: str) -> Sequence[IngestionJob]:
        """Read every source of a book now: something says that they changed."""
        own = [source for source in await self._sources.all() if source.book_id == book_id]
        return [await self._start(source) for source in own]

    async def _patiently(self, looking: Awaitable[Result]) -> Result | None:
        """What a look at the timetable brings; the database may be away for a while."""
        try:
            return await looking
        except FootnoteError as error:
            log.warning("timetable not read", extra={"cause": type(error).__name__})
        except Exception:  # one source's defect must not keep the others from their time
            log.exception("timetable not read by a defect")
        return None

    async def _catch_up(self) -> None:
        """Follow the jobs that an earlier process began, and learn the end of those that ended."""
        for source in await self._sources.all():
            job = await self._jobs.get(source.last_job_id) if source.last_job_id else None
            if job is not None and source.source_id not in self._runs:
                self._follow(source.source_id, known(job))

    async def _start_due(self) -> float:
        """Begin what is due; how long until there is something to do again."""
        wait = LONGEST_WAIT
        now = self._clock()
        for source in await self._sources.all():
            if source.next_at is None:
                continue
            if source.next_at > now:
                wait = min(wait, (source.next_at - now).total_seconds())
            elif await self._sources.claim(source, then=self._after(source, now)):
                self._begin(source)
        return wait

    def _after(self, source: BookSource, now: datetime) -> datetime | None:
        """None: it has no span, and waits for a signal."""
        return now + source.every * self._spread() if source.every else None

    async def _start(self, source: BookSource) -> IngestionJob:
        # Whoever stops waiting for the job does not stop the job.
        return await asyncio.shield(self._begin(source).job)

    def _begin(self, source: BookSource) -> ActiveRun:
        """One job a source: a second wish waits for the first to end, a third adds nothing.

        Nothing is awaited between the look and the note, so two wishes cannot both be the first."""
        run = self._runs.get(source.source_id)
        if run is None:
            return self._follow(source.source_id, self._started(source))
        run.again = True
        return run

    async def _started(self, source: BookSource) -> IngestionJob:
        job = await self._ingestion.start(
            IngestionRequest(
                book_id=source.book_id,
                sources=(source.location,),
                base_url=source.base_url,
                site=source.site,
            )
        )
        await self._sources.update(replace(source, last_job_id=job.job_id))
        return job

    def _follow(self, source_id: UUID, job: Coroutine[Any, Any, IngestionJob]) -> ActiveRun:
        run = self._runs[source_id] = ActiveRun(self._own(job))
        self._own(self._to_end(source_id, run))
        return run

    def _own(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _to_end(self, source_id: UUID, run: ActiveRun) -> None:
        """However a run ends, the source can be read again, and is where somebody wished so."""
        about = {"source_id": str(source_id)}
        try:
            job = await run.job
            ended = await self._ingestion.wait(job.job_id)
            source = await self._sources.get(source_id)
            if source is not None and ended.status.is_over:
                await self._sources.update(after(source, ended))
        except FootnoteError as error:
            log.warning("source not followed", extra=about | {"cause": type(error).__name__})
        except Exception:
            log.exception("source not followed by a defect", extra=about)
        finally:
            del self._runs[source_id]
        if run.again:
            await self._patiently(self._read_again(source_id))

    async def _read_again(self, source_id: UUID) -> None:
        source = await self._sources.get(source_id)
        if source is not None:
            self._begin(source)


async def known(job: IngestionJob) -> IngestionJob:
    """A job that an earlier process has started."""
    return job


def after(source: BookSource, job: IngestionJob) -> BookSource:
    """The source with what became of a job that read it."""
    error = fault_of(source, job)
    if error is None:
        return replace(source, last_success=job.completed_at, last_error="")
    return replace(source, last_failure=job.completed_at, last_error=error)


def fault_of(source: BookSource, job: IngestionJob) -> str | None:
    """Why the source could not be read; single files of it that could not are the job's matter."""
    if job.status is JobStatus.CANCELLED:
        return "it was cancelled"
    if job.status is JobStatus.FAILED:
        return job.error_message or "no reason was given"
    named = {source.location, source.location.removeprefix(CHECKOUT)}
    return next((f.reason for f in job.failures if f.source_file in named), None)


def spread_out(chance: random.Random) -> float:
    """By how much a pause is stretched, so that many sources are not read in one moment."""
    return chance.uniform(1 - SPREAD, 1 + SPREAD)
