"""One run over a book's sources, from the first file to the book's new totals."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from rag_core.books.book import Book, BookIds
from rag_core.errors import ConfigurationError, IngestionError
from rag_core.ingestion.batch import Batch, Cutter, Pace
from rag_core.ingestion.cutting import Shelf
from rag_core.ingestion.estimate import Estimate, settled
from rag_core.ingestion.gathering import Gathered, Gathers
from rag_core.ingestion.headings import Site
from rag_core.ingestion.job import (
    FileFailure,
    IngestionJob,
    IngestionMode,
    IngestionRecord,
    JobStatus,
)
from rag_core.ingestion.loaders import Loader
from rag_core.ingestion.site import Rules, rules_of
from rag_core.ingestion.survey import Known, Plan, Scope, Surveyed, late_files, plan_run
from rag_core.ingestion.vectors import Vectors
from rag_core.ports import BookStore, Embedder, JobStore, VectorStore
from rag_core.retrieval.results import SearchResult

SECONDS_BETWEEN_SAVES = 0.5
JOBS_LOOKED_AT = 200
LISTED = 200
"""Failures and notices that a job keeps; its counts are complete all the same."""
NAMED = 5
"""Files that a notice gives as examples."""


NOT_READ = "it was not read: the job failed before"


def counted(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"


def with_unread(job: IngestionJob, status: JobStatus, unread: Sequence[str] = ()) -> IngestionJob:
    """A job that ends early, with every file that was found accounted for; `unread` are the names
    of those that were not read, as far as they are known."""
    left = job.files_found - settled(job)
    if left <= 0:
        return replace(job, files_found=settled(job))
    if status is JobStatus.CANCELLED:
        notice = f"{counted(left)} skipped: the job was cancelled before"
        notices = (notice, *job.notices)[:LISTED]
        return replace(job, files_skipped=job.files_skipped + left, notices=notices)
    failures = [FileFailure(source_file=name, reason=NOT_READ) for name in unread]
    return replace(
        job,
        files_failed=job.files_failed + left,
        failures=(*job.failures, *failures)[:LISTED],
        notices=(f"{counted(left)} not read: the job failed before", *job.notices)[:LISTED],
    )


class IngestionRun:
    """Carries out one job."""

    def __init__(
        self,
        job: IngestionJob,
        *,
        jobs: JobStore,
        books: BookStore,
        store: VectorStore,
        embedder: Embedder,
        gathers: Gathers,
        clock: Callable[[], datetime],
    ) -> None:
        self.job = job
        self._gathers = gathers
        self._jobs = jobs
        self._books = books
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._vectors = Vectors(book_id=job.book_id, store=store, embedder=embedder, clock=clock)
        self._records: dict[str, IngestionRecord] = {}
        """What the book's files have left, batch by batch."""
        self.unread: Sequence[str] = ()
        """Files of the plan that were not read yet."""
        self._saved_at = 0.0
        self._estimate: Estimate | None = None

    async def to_end(self) -> None:
        """Read what is to be read; the job is completed when this returns."""
        if self.job.status is JobStatus.QUEUED:
            await self._note(force=True, status=JobStatus.RUNNING, started_at=self._clock())
        book = await self._checked_book()
        gathered = await self._gathers.gather(self.job, self._hear)
        rules = self._rules(gathered.sources)
        shelf = Shelf(
            book_id=book.book_id,
            base_url=book.base_url,
            site=rules.site,
            habits=rules.habits,
            addresses=gathered.addresses,
        )
        known = await self._known()
        scope = Scope(
            mode=self.job.mode,
            since=self.job.started_at,
            links_changed=await self._links_changed(book),
            site=self._named_site,
        )
        plan = await asyncio.to_thread(plan_run, gathered.sources, known, scope)
        await self._begin(plan, gathered)
        try:
            await self._read_files(plan, known, shelf)
            await self._remove_gone(plan, known)
        except BaseException:
            # A record that was being written may be there or not.
            self._records = dict((await self._jobs.state(book.book_id)).records)
            raise
        finally:
            await self._save_totals(book)
        self._check_anything_read()
        await self._note_late_files(gathered.sources, plan)
        await self._complete()

    async def _checked_book(self) -> Book:
        """The book as it will be; vectors of two models are never put side by side."""
        job = self.job
        book = await self._books.get(job.book_id) or Book(book_id=job.book_id, title=job.book_id)
        foreign = book.chunks > 0 and book.embedding_model not in {"", self._embedder.model}
        if foreign and job.mode is not IngestionMode.RECREATE:
            raise ConfigurationError(
                f"The book {job.book_id} was embedded with {book.embedding_model}, and the"
                f" settings ask for {self._embedder.model}: set FOOTNOTE_EMBEDDER back,"
                " or ingest with --mode recreate."
            )
        return replace(book, title=job.title or book.title, base_url=job.base_url or book.base_url)

    async def _links_changed(self, book: Book) -> bool:
        before = await self._books.get(book.book_id)
        if before is None:
            return False
        return before.base_url != book.base_url or await self._site_changed()

    async def _site_changed(self) -> bool:
        """Whether the last run over the same sources was told of another site."""
        this = (self.job.book_id, self.job.sources, JobStatus.COMPLETED)
        jobs = await self._jobs.recent(limit=JOBS_LOOKED_AT)
        same = (job for job in jobs if (job.book_id, job.sources, job.status) == this)
        before = next(same, None)
        return before is not None and before.site != self.job.site

    def _hear(self, looked_at: int, found: int) -> None:
        """Pages of a website that were looked at; the job is saved with the next note."""
        self.job = replace(self.job, files_found=found)

    def _rules(self, sources: Sequence[str]) -> Rules:
        named = self._named_site
        found = [rules_of(Path(source), named) for source in sources]
        return next((rules for rules in found if rules != Rules()), Rules(named or Site.PLAIN))

    @property
    def _named_site(self) -> Site | None:
        return Site(self.job.site) if self.job.site else None

    async def _known(self) -> Known:
        state = await self._jobs.state(self.job.book_id)
        shown = await self._store.shown_versions(self.job.book_id)
        self._records = dict(state.records)
        return Known(records=state.records, shown=shown)

    async def _begin(self, plan: Plan, gathered: Gathered) -> None:
        """Count what is settled before the first file is read; a resumed job counts anew."""
        failures = (*gathered.failures, *plan.failures)
        await self._note(
            force=True,
            files_found=len(plan.to_read) + plan.done + plan.skipped + len(failures),
            files_processed=plan.done,
            files_skipped=plan.skipped,
            files_failed=len(failures),
            failures=failures[:LISTED],
            notices=(*gathered.notices, *plan.notices)[:LISTED],
        )
        self._estimate = Estimate(self.job)
        if not plan.to_read:
            self._check_anything_read()

    def _check_anything_read(self) -> None:
        """A job that could read nothing has failed, with the reasons."""
        job = self.job
        if job.files_processed or job.files_skipped:
            return
        reasons = "; ".join(f"{f.source_file}: {f.reason}" for f in job.failures[:3])
        raise IngestionError(
            ", ".join(job.sources),
            "find",
            f"no file could be read ({reasons})" if reasons else "there is no document in it",
        )

    async def _read_files(self, plan: Plan, known: Known, shelf: Shelf) -> None:
        with Loader() as loader:
            cutter = Cutter(plan=plan, known=known, shelf=shelf, loader=loader)
            pace, done = Pace(), 0
            while done < len(plan.to_read):
                began = time.monotonic()
                self.unread = [each.file.source_file for each in plan.to_read[done:]]
                done += await self._read_batch(plan.to_read[done : done + pace.files], cutter)
                pace.took(time.monotonic() - began)
            self.unread = ()

    async def _note_late_files(self, sources: Sequence[str], plan: Plan) -> None:
        """Count the files that appeared while others were read: the next run reads them."""
        if not plan.to_read:
            return
        late = await asyncio.to_thread(late_files, sources, plan, self._named_site)
        if not late:
            return
        job = self.job
        some = ", ".join([*late[:NAMED], *(["…"] if len(late) > NAMED else [])])
        notice = f"appeared while the job ran, to be read by the next one: {some}"
        await self._note(
            files_found=job.files_found + len(late),
            files_skipped=job.files_skipped + len(late),
            notices=(f"{counted(len(late))} {notice}", *job.notices)[:LISTED],
        )

    async def _read_batch(self, files: Sequence[Surveyed], cutter: Cutter) -> int:
        """Add the new versions beside the old ones, then let readers see them instead."""
        book_id, known = cutter.shelf.book_id, cutter.known
        old = await self._first_chunks(files, cutter)
        batch = await asyncio.to_thread(cutter.batch, files, old, self._clock())
        # Clears away what a cancelled attempt at these files left unseen.
        await self._store.show_versions(
            book_id=book_id, versions={f.name: known.shown.get(f.name) for f in batch.files}
        )
        made = await self._vectors.of(
            batch.chunks(), embeds_all=self.job.embed_anew or not known.shown
        )
        if made.chunks:
            await self._store.add(made.chunks)
        await self._store.show_versions(
            book_id=book_id, versions={file.name: file.shown for file in batch.files}
        )
        await self._jobs.record_all(book_id, [file.record for file in batch.files])
        self._records |= {file.name: file.record for file in batch.files}
        await self._count(batch, known, embedded=made.embedded)
        return batch.taken

    async def _first_chunks(
        self, files: Sequence[Surveyed], cutter: Cutter
    ) -> Sequence[SearchResult]:
        """One chunk of each file's earlier version, which says when the file first came."""
        records = [cutter.known.same_text(each) for each in files]
        ids = [record.chunk_ids[0] for record in records if record and record.chunk_ids]
        if not ids:
            return ()
        found = await self._store.chunks(ids, books=BookIds([cutter.shelf.book_id]))
        return tuple(found.values())

    async def _remove_gone(self, plan: Plan, known: Known) -> None:
        for name in plan.gone:
            await self._store.show_version(book_id=self.job.book_id, source_file=name, version=None)
            await self._jobs.forget_file(self.job.book_id, name)
            self._records.pop(name, None)
            record = known.records.get(name)
            deleted = record.chunk_count if record else 0
            await self._note(chunks_deleted=self.job.chunks_deleted + deleted)

    async def _save_totals(self, book: Book) -> None:
        """What the book has now, also after a run that was stopped half-way."""
        if not self._records:
            return
        now = self._clock()
        full = self.job.mode is not IngestionMode.INCREMENTAL
        await self._books.save(
            replace(
                book,
                files=len(self._records),
                chunks=sum(record.chunk_count for record in self._records.values()),
                embedding_model=self._embedder.model,
                last_full_ingest=now if full else book.last_full_ingest,
                last_incremental_update=book.last_incremental_update if full else now,
            )
        )

    async def _count(self, batch: Batch, known: Known, *, embedded: int) -> None:
        """What a batch did: a chunk that was there before and still is was not created."""
        job = self.job
        created = deleted = 0
        for file in batch.files:
            record = known.records.get(file.name)
            before = set(record.chunk_ids) if record else set()
            now = set(file.record.chunk_ids)
            stayed = 0 if job.mode is IngestionMode.RECREATE else len(before & now)
            created += len(now) - stayed
            deleted += len(before) - stayed
        notices = [notice for file in batch.files for notice in file.notices]
        await self._note(
            files_processed=job.files_processed + len(batch.files),
            files_failed=job.files_failed + len(batch.failures),
            failures=(*job.failures, *batch.failures)[:LISTED],
            chunks_created=job.chunks_created + created,
            chunks_deleted=job.chunks_deleted + deleted,
            chunks_embedded=job.chunks_embedded + embedded,
            notices=(*job.notices, *notices)[:LISTED],
        )

    async def _note(self, *, force: bool = False, **changes: object) -> None:
        """Keep the job's progress, in the database every now and then."""
        self.job = replace(self.job, **changes)  # type: ignore[arg-type]  # by name
        if force or time.monotonic() - self._saved_at >= SECONDS_BETWEEN_SAVES:
            if self._estimate is not None:
                self.job = self._estimate.on(self.job)
            await self._jobs.save(self.job)
            self._saved_at = time.monotonic()

    async def _complete(self) -> None:
        now = self._clock()
        await self._note(
            force=True,
            status=JobStatus.COMPLETED,
            files_found=settled(self.job),
            completed_at=now,
            duration_seconds=(now - self.job.started_at).total_seconds(),
        )
