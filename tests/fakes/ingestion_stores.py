"""Books, policies, sources and jobs kept in memory, with the rules of the real stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from rag_core.books.book import Book
from rag_core.books.policy import ANY_TENANT, ChannelPolicy, Place
from rag_core.books.source import BookSource
from rag_core.errors import StorageError
from rag_core.ingestion.job import IngestionJob, IngestionRecord, IngestionState


class MemoryBooks:
    """BookStore in memory."""

    def __init__(self) -> None:
        self._books: dict[str, Book] = {}

    async def save(self, book: Book) -> None:
        self._books[book.book_id] = book

    async def get(self, book_id: str) -> Book | None:
        return self._books.get(book_id)

    async def all(self) -> Sequence[Book]:
        return [self._books[book_id] for book_id in sorted(self._books)]

    async def remove(self, book_id: str) -> None:
        self._books.pop(book_id, None)


class MemoryPolicies:
    """PolicyStore in memory."""

    def __init__(self) -> None:
        self._said: dict[Place, ChannelPolicy] = {}

    async def set(self, place: Place, policy: ChannelPolicy) -> None:
        by_id_alone = place.channel_id or place.tenant
        self._said.pop(replace(place, tenant=ANY_TENANT, channel_id=by_id_alone), None)
        self._said.pop(place, None)
        if policy != ChannelPolicy():
            self._said[place] = policy

    async def get(self, place: Place) -> ChannelPolicy | None:
        return self._said.get(place)

    async def around(self, place: Place, *, category_id: str = "") -> Sequence[ChannelPolicy]:
        around = [(by, c) for c in (place.channel_id, category_id) for by in (place.tenant, "")]
        around += [(place.tenant, ""), (ANY_TENANT, place.tenant)]
        places = [replace(place, tenant=by, channel_id=c) for by, c in dict.fromkeys(around)]
        return [self._said[wider] for wider in places if wider in self._said]

    async def all(self) -> Mapping[Place, ChannelPolicy]:
        return dict(self._said)


class MemoryJobs:
    """JobStore in memory; `saved` keeps every state that a job went through."""

    def __init__(self) -> None:
        self._jobs: dict[UUID, IngestionJob] = {}
        self._records: dict[str, dict[str, IngestionRecord]] = {}
        self.saved: list[IngestionJob] = []

    async def save(self, job: IngestionJob) -> None:
        self._jobs[job.job_id] = job
        self.saved.append(job)

    async def get(self, job_id: UUID) -> IngestionJob | None:
        return self._jobs.get(job_id)

    async def recent(self, *, limit: int = 50) -> Sequence[IngestionJob]:
        by_start = sorted(self._jobs.values(), key=lambda job: job.started_at, reverse=True)
        return by_start[:limit]

    async def unfinished(self) -> Sequence[IngestionJob]:
        return [job for job in self._jobs.values() if not job.status.is_over]

    async def state(self, book_id: str) -> IngestionState:
        records = dict(self._records.get(book_id, {}))
        return IngestionState(book_id=book_id, collection="documentation", records=records)

    async def record(self, book_id: str, record: IngestionRecord) -> None:
        self._records.setdefault(book_id, {})[record.source_file] = record

    async def record_all(self, book_id: str, records: Sequence[IngestionRecord]) -> None:
        for record in records:
            await self.record(book_id, record)

    async def forget_file(self, book_id: str, source_file: str) -> None:
        self._records.get(book_id, {}).pop(source_file, None)


class MemorySources:
    """SourceStore in memory; can be away."""

    def __init__(self) -> None:
        self._sources: dict[UUID, BookSource] = {}
        self.trouble: StorageError | None = None

    async def add(self, source: BookSource) -> bool:
        held = {(each.book_id, each.location) for each in self._sources.values()}
        if (source.book_id, source.location) in held:
            return False
        self._sources[source.source_id] = source
        return True

    async def get(self, source_id: UUID) -> BookSource | None:
        return self._sources.get(source_id)

    async def all(self) -> Sequence[BookSource]:
        if self.trouble is not None:
            raise self.trouble
        return list(self._sources.values())

    async def update(self, source: BookSource) -> None:
        held = self._sources.get(source.source_id)
        if held is not None:
            self._sources[source.source_id] = replace(source, next_at=held.next_at)

    async def claim(self, source: BookSource, *, then: datetime | None) -> bool:
        held = self._sources.get(source.source_id)
        if held is None or held.next_at != source.next_at:
            return False
        self._sources[source.source_id] = replace(held, next_at=then)
        return True

    async def remove(self, source_id: UUID) -> bool:
        return self._sources.pop(source_id, None) is not None
