"""Runs ingestion jobs: one at a time for each book, kept in the database, cut off by nothing."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self
from uuid import UUID, uuid4

from rag_core.books.book import checked_book_id
from rag_core.errors import FootnoteError, InvalidQuestion, UpstreamError, UpstreamRejected
from rag_core.ingestion.gathering import AsTheyLie, Gathers
from rag_core.ingestion.headings import Site
from rag_core.ingestion.job import IngestionJob, IngestionMode, JobStatus
from rag_core.ingestion.run import IngestionRun, with_unread
from rag_core.ports import BookStore, Embedder, JobStore, VectorStore

log = logging.getLogger(__name__)

INDEX = "qdrant"
"""Every other service that a job asks embeds."""

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


def sentence_for(error: FootnoteError) -> str:
    """Why a job failed and what to do, without the name of a vendor."""
    if not isinstance(error, UpstreamError):
        return str(error)
    service = "index" if error.service == INDEX else "embedding service"
    reason = f" ({error.reason})" if error.reason else ""
    if isinstance(error, UpstreamRejected) and not error.retryable:
        return (
            f"The {service} refused the request{reason}. See `footnote doctor`, correct the"
            " setting that it names, and run the ingestion again."
        )
    return (
        f"The {service} failed{reason}. Run the ingestion again in a while: what was read so far"
        " is kept."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionRequest:
    """What is to be read into which book."""

    book_id: str
    sources: tuple[str, ...]
    mode: IngestionMode = IngestionMode.INCREMENTAL
    base_url: str = ""
    site: str = ""
    title: str = ""
    embed_anew: bool = False
    """Whether every vector is made anew, also of text that the book has already."""

    def __post_init__(self) -> None:
        checked_book_id(self.book_id)
        if not self.sources:
            raise InvalidQuestion(
                "sources", "Name at least one file or folder to read.", allowed="at least one"
            )
        if self.site and self.site not in set(Site):
            allowed = ", ".join(Site)
            raise InvalidQuestion(
                "site", f"site {self.site!r} is not known: {allowed}.", allowed=allowed
            )
        if self.embed_anew and self.mode is IngestionMode.INCREMENTAL:
            raise InvalidQuestion(
                "embed_anew",
                "embed_anew needs the mode full or recreate: an incremental run leaves"
                " unchanged files as they are.",
                allowed="with mode full or recreate",
            )


class Ingestion:
    """Takes jobs and sees each to its end; leaving the context stops them for a later resume."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        books: BookStore,
        store: VectorStore,
        embedder: Embedder,
        gathers: Gathers | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._jobs = jobs
        self._books = books
        self._store = store
        self._embedder = embedder
        self._gathers = gathers or AsTheyLie()
        self._clock = clock
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._cancelled: set[UUID] = set()
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def start(self, request: IngestionRequest) -> IngestionJob:
        """Write the job down and queue it behind the book's other jobs."""
        job = IngestionJob(
            job_id=uuid4(),
            book_id=request.book_id,
            mode=request.mode,
            status=JobStatus.QUEUED,
            started_at=self._clock(),
            sources=request.sources,
            title=request.title,
            base_url=request.base_url,
            site=request.site,
            embed_anew=request.embed_anew,
        )
        await self._jobs.save(job)
        self._launch(job)
        return job

    async def wait(self, job_id: UUID) -> IngestionJob:
        """The job when it is over, or as it stands where nobody works on it here."""
        task = self._tasks.get(job_id)
        if task is not None:
            await asyncio.wait([task])
        job = await self._jobs.get(job_id)
        if job is None:
            raise InvalidQuestion("job_id", f"There is no job {job_id}.")
        return job

    async def cancel(self, job_id: UUID) -> bool:
        """Stop a job; what it has finished stays. False where it is over or not known here."""
        task = self._tasks.get(job_id)
        if task is None or task.done():
            return False
        self._cancelled.add(job_id)
        task.cancel()
        await asyncio.wait([task])
        return True

    async def remove_book(self, book_id: str) -> None:
        """Stop the book's jobs, then remove it with all that was read into it."""
        own = [job for job in await self._jobs.unfinished() if job.book_id == book_id]
        for job in own:
            if not await self.cancel(job.job_id):  # an earlier process was cut off in it
                await self._end(job, JobStatus.CANCELLED)
        async with self._turns[book_id]:
            await self._store.drop_book(book_id)
            await self._books.remove(book_id)
            await self._gathers.forget(book_id)

    async def resume(self) -> None:
        """Take up the jobs that the end of an earlier process cut off, the oldest first."""
        left = await self._jobs.unfinished()
        for job in sorted(left, key=lambda job: job.started_at):
            if job.job_id not in self._tasks:
                self._launch(job)

    def _launch(self, job: IngestionJob) -> None:
        task = asyncio.create_task(self._work(job), name=f"ingestion {job.job_id}")
        self._tasks[job.job_id] = task
        task.add_done_callback(lambda done: self._forget(job.job_id, done))

    def _forget(self, job_id: UUID, task: asyncio.Task[None]) -> None:
        self._tasks.pop(job_id, None)
        self._cancelled.discard(job_id)
        if not task.cancelled() and (error := task.exception()):
            # The database did not take the job's end; the job is found unfinished at start-up.
            log.error("ingestion job not settled", extra={"job_id": str(job_id)}, exc_info=error)

    async def _work(self, job: IngestionJob) -> None:
        run = IngestionRun(
            job,
            jobs=self._jobs,
            books=self._books,
            store=self._store,
            embedder=self._embedder,
            gathers=self._gathers,
            clock=self._clock,
        )
        try:
            async with self._turns[job.book_id]:
                await run.to_end()
        except asyncio.CancelledError:
            if job.job_id not in self._cancelled:
                raise  # the process ends; the job stays unfinished and is resumed
            await self._end(run.job, JobStatus.CANCELLED, unread=run.unread)
        except FootnoteError as error:
            log.warning("ingestion failed", extra={"job_id": str(job.job_id)})
            await self._end(run.job, JobStatus.FAILED, sentence_for(error), unread=run.unread)
        except Exception:
            log.exception("ingestion stopped by a fault", extra={"job_id": str(job.job_id)})
            reason = "A fault in the program stopped this job; its log has the details."
            await self._end(run.job, JobStatus.FAILED, reason, unread=run.unread)

    async def _end(
        self,
        job: IngestionJob,
        status: JobStatus,
        reason: str | None = None,
        *,
        unread: Sequence[str] = (),
    ) -> None:
        now = self._clock()
        await self._jobs.save(
            replace(
                with_unread(job, status, unread),
                status=status,
                seconds_left=None,
                completed_at=now,
                duration_seconds=(now - job.started_at).total_seconds(),
                error_message=reason,
            )
        )
