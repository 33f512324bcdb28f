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
from rag_core.ingestion.course import CoursePlace, course_place
from rag_core.ingestion.cutting import Edition, Shelf, chunks_of, embedded_text
from rag_core.ingestion.documents import DocumentChunk, EmbeddedChunk
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
from rag_core.ingestion.loaders import Loader, read_source
from rag_core.ingestion.site import Rules, rules_of
from rag_core.ingestion.survey import Known, Plan, Scope, Surveyed, plan_run
from rag_core.ports import BookStore, Embedder, JobStore, VectorStore
from rag_core.retrieval.results import SearchResult

SECONDS_BETWEEN_SAVES = 0.5
LISTED = 200
"""Failures and notices that a job keeps; its counts are complete all the same."""


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
        )
        plan = await asyncio.to_thread(plan_run, gathered.sources, known, scope)
        await self._begin(plan, gathered)
        try:
            await self._read_files(plan, known, shelf)
            await self._remove_gone(plan, known)
        finally:
            await self._save_totals(book)
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
        return before is not None and before.base_url != book.base_url

    def _hear(self, looked_at: int, found: int) -> None:
        """Pages of a website that were looked at; the job is saved with the next note."""
        self.job = replace(self.job, files_found=found)

    def _rules(self, sources: Sequence[str]) -> Rules:
        named = Site(self.job.site) if self.job.site else None
        found = [rules_of(Path(source), named) for source in sources]
        return next((rules for rules in found if rules != Rules()), Rules(named or Site.PLAIN))

    async def _known(self) -> Known:
        state = await self._jobs.state(self.job.book_id)
        shown = await self._store.shown_versions(self.job.book_id)
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
            await self._read_each(plan, known, shelf, loader)

    async def _read_each(self, plan: Plan, known: Known, shelf: Shelf, loader: Loader) -> None:
        for surveyed in plan.to_read:
            try:
                await self._read_file(surveyed, plan, known, shelf, loader)
            except IngestionError as error:
                failure = FileFailure(source_file=error.source, reason=error.reason)
                await self._note(
                    files_failed=self.job.files_failed + 1,
                    failures=(*self.job.failures, failure)[:LISTED],
                )

    async def _read_file(
        self, surveyed: Surveyed, plan: Plan, known: Known, shelf: Shelf, loader: Loader
    ) -> None:
        """Add the new version beside the old one, then let readers see it instead."""
        name = surveyed.file.source_file
        record = known.records.get(name)
        old = await self._old_chunks(known.same_text(surveyed), shelf.book_id)
        edition = Edition(
            version=known.next_version(name),
            created_at=first_read(old, otherwise=self._clock()),
            updated_at=self._clock(),
            owns_lesson=plan.owns_lesson(surveyed),
        )
        chunks, course, notices = await asyncio.to_thread(
            cut_file, surveyed, shelf, edition, loader
        )
        # Clears away what a cancelled attempt at this file left unseen.
        await self._store.show_version(
            book_id=shelf.book_id, source_file=name, version=known.shown.get(name)
        )
        embedded, new = await self._embedded(chunks, old)
        if embedded:
            await self._store.add(embedded)
        await self._store.show_version(
            book_id=shelf.book_id, source_file=name, version=edition.version if embedded else None
        )
        await self._jobs.record(
            shelf.book_id, record_of(surveyed, edition, chunks, course, self._clock())
        )
        await self._count_file(chunks, record, embedded=new, notices=notices)

    async def _old_chunks(
        self, record: IngestionRecord | None, book_id: str
    ) -> Sequence[SearchResult]:
        if record is None or not record.chunk_ids:
            return ()
        found = await self._store.chunks(record.chunk_ids, books=BookIds([book_id]))
        return tuple(found.values())

    async def _embedded(
        self, chunks: Sequence[DocumentChunk], old: Sequence[SearchResult]
    ) -> tuple[list[EmbeddedChunk], int]:
        """The chunks with their vectors; one whose words did not change keeps its own."""
        model = self._embedder.model
        kept = {
            (result.content_hash, result.breadcrumb): result.vector
            for result in old
            if self.job.mode is not IngestionMode.RECREATE
            and result.vector
            and result.metadata.get("embedding_model") == model
        }
        key = {
            chunk.id: (chunk.metadata.content_hash, chunk.metadata.breadcrumb) for chunk in chunks
        }
        new = [chunk for chunk in chunks if key[chunk.id] not in kept]
        vectors = await self._embedder.embed_documents([embedded_text(chunk) for chunk in new])
        for chunk, vector in zip(new, vectors, strict=True):
            kept[key[chunk.id]] = vector
        now = self._clock()
        return [
            EmbeddedChunk(
                chunk=chunk, vector=kept[key[chunk.id]], embedded_at=now, embedding_model=model
            )
            for chunk in chunks
        ], len(new)

    async def _remove_gone(self, plan: Plan, known: Known) -> None:
        for name in plan.gone:
            await self._store.show_version(book_id=self.job.book_id, source_file=name, version=None)
            await self._jobs.forget_file(self.job.book_id, name)
            record = known.records.get(name)
            deleted = record.chunk_count if record else 0
            await self._note(chunks_deleted=self.job.chunks_deleted + deleted)

    async def _save_totals(self, book: Book) -> None:
        """What the book has now, also after a run that was stopped half-way."""
        state = await self._jobs.state(book.book_id)
        if not state.records:
            return
        now = self._clock()
        full = self.job.mode is not IngestionMode.INCREMENTAL
        await self._books.save(
            replace(
                book,
                files=state.total_files,
                chunks=state.total_chunks,
                embedding_model=self._embedder.model,
                last_full_ingest=now if full else book.last_full_ingest,
                last_incremental_update=book.last_incremental_update if full else now,
            )
        )

    async def _count_file(
        self,
        chunks: Sequence[DocumentChunk],
        record: IngestionRecord | None,
        *,
        embedded: int,
        notices: Sequence[str],
    ) -> None:
        job = self.job
        before = set(record.chunk_ids) if record else set()
        now = {chunk.id for chunk in chunks}
        stayed = 0 if job.mode is IngestionMode.RECREATE else len(before & now)
        await self._note(
            files_processed=job.files_processed + 1,
            chunks_created=job.chunks_created + len(now) - stayed,
            chunks_deleted=job.chunks_deleted + len(before) - stayed,
            chunks_embedded=job.chunks_embedded + embedded,
            notices=(*job.notices, *notices)[:LISTED],
        )

    async def _note(self, *, force: bool = False, **changes: object) -> None:
        """Keep the job's progress, in the database every now and then."""
        self.job = replace(self.job, **changes)  # type: ignore[arg-type]
        if force or time.monotonic() - self._saved_at >= SECONDS_BETWEEN_SAVES:
            if self._estimate is not None:
                self.job = self._estimate.on(self.job)
            await self._jobs.save(self.job)
            self._saved_at = time.monotonic()

    async def _complete(self) -> None:
        self._check_anything_read()
        now = self._clock()
        await self._note(
            force=True,
            status=JobStatus.COMPLETED,
            files_found=settled(self.job),
            completed_at=now,
            duration_seconds=(now - self.job.started_at).total_seconds(),
        )


def cut_file(
    surveyed: Surveyed, shelf: Shelf, edition: Edition, loader: Loader
) -> tuple[tuple[DocumentChunk, ...], CoursePlace, list[str]]:
    """A file's chunks, and what there is to say of it. Blocks."""
    name = surveyed.file.source_file
    document = loader.load(name, read_source(surveyed.file))
    if document.file_hash != surveyed.hash:
        raise IngestionError(name, "read", "it changed while it was read; run again")
    if address := shelf.addresses.get(surveyed.file.path):
        document = replace(document, fields={**document.fields, "url": address})
    course = course_place(name, document.fields)
    chunks = chunks_of(document, course, shelf=shelf, edition=edition)
    notices = [f"{name}: {notice}" for notice in (*document.notices, *course.notices)]
    if not chunks:
        notices.append(f"{name}: there is no text in it")
    return chunks, course, notices


def record_of(
    surveyed: Surveyed,
    edition: Edition,
    chunks: Sequence[DocumentChunk],
    course: CoursePlace,
    now: datetime,
) -> IngestionRecord:
    return IngestionRecord(
        source_file=surveyed.file.source_file,
        file_hash=surveyed.hash,
        version=edition.version,
        chunk_ids=tuple(chunk.id for chunk in chunks),
        ingested_at=now,
        module=course.module,
        chapter=course.chapter,
        lesson=course.lesson,
        source=str(Path(surveyed.file.source).resolve()),
    )


def first_read(old: Sequence[SearchResult], *, otherwise: datetime) -> datetime:
    """When the file first came into the book."""
    times = [result.metadata["created_at"] for result in old if "created_at" in result.metadata]
    return datetime.fromisoformat(min(times)) if times else otherwise
