"""One run of ingestion, and what each file of a book left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class IngestionMode(StrEnum):
    """How much is read anew."""

    INCREMENTAL = "incremental"
    FULL = "full"
    RECREATE = "recreate"


class JobStatus(StrEnum):
    """How far a run has come."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return self not in {JobStatus.QUEUED, JobStatus.RUNNING}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFailure:
    """A file that could not be read, and why."""

    source_file: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionJob:
    """One run over a book's sources, kept in the database."""

    job_id: UUID
    book_id: str
    mode: IngestionMode
    status: JobStatus
    started_at: datetime
    sources: tuple[str, ...] = ()
    title: str = ""
    base_url: str = ""
    site: str = ""
    embed_anew: bool = False
    files_found: int = 0
    """How many there are in all, as far as is known yet."""
    files_processed: int = 0
    files_skipped: int = 0
    files_failed: int = 0
    failures: tuple[FileFailure, ...] = ()
    notices: tuple[str, ...] = ()
    chunks_created: int = 0
    chunks_deleted: int = 0
    chunks_embedded: int = 0
    chunks_per_second: float | None = None
    seconds_left: float | None = None
    """An estimate while the job runs."""
    completed_at: datetime | None = None
    duration_seconds: float | None = None
    error_message: str | None = None

    def __post_init__(self) -> None:
        if self.status.is_over != (self.completed_at is not None):
            raise ValueError("a job has a completion time when it is over, and only then")


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionRecord:
    """What one file left in the index."""

    source_file: str
    file_hash: str
    version: int
    chunk_ids: tuple[str, ...]
    ingested_at: datetime
    module: str | None = None
    chapter: int | None = None
    lesson: int | None = None
    source: str = ""
    """The folder or file it was found by: only a run over that one may find it gone."""

    @property
    def chunk_count(self) -> int:
        return len(self.chunk_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionState:
    """What a book's files left in the index, and when they were last read."""

    book_id: str
    collection: str
    records: Mapping[str, IngestionRecord] = field(default_factory=dict)
    last_full_ingest: datetime | None = None
    last_incremental_update: datetime | None = None

    @property
    def total_files(self) -> int:
        return len(self.records)

    @property
    def total_chunks(self) -> int:
        return sum(record.chunk_count for record in self.records.values())

    def compared_with(self, hashes: Mapping[str, str]) -> FileChanges:
        """Which of the files found now are new or modified, and which are gone."""
        known = self.records
        return FileChanges(
            new=tuple(sorted(path for path in hashes if path not in known)),
            modified=tuple(
                sorted(p for p, h in hashes.items() if p in known and known[p].file_hash != h)
            ),
            deleted=tuple(sorted(path for path in known if path not in hashes)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanges:
    """The difference between a book's files and what was ingested of them."""

    new: tuple[str, ...]
    modified: tuple[str, ...]
    deleted: tuple[str, ...]
