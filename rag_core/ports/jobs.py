"""Where runs of ingestion are kept, and what they left in the index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from rag_core.books.book import BookIds
from rag_core.ingestion.job import IngestionJob, IngestionRecord, IngestionState


class JobStore(Protocol):
    """Ingestion jobs, and what each file of a book left in the index."""

    async def save(self, job: IngestionJob) -> None:
        """Insert or replace."""
        ...

    async def get(self, job_id: UUID) -> IngestionJob | None: ...

    async def recent(
        self, *, limit: int = 50, books: BookIds | None = None
    ) -> Sequence[IngestionJob]:
        """The last started first; with books, of these alone."""
        ...

    async def unfinished(self) -> Sequence[IngestionJob]: ...

    async def state(self, book_id: str) -> IngestionState: ...

    async def record(self, book_id: str, record: IngestionRecord) -> None: ...

    async def record_all(self, book_id: str, records: Sequence[IngestionRecord]) -> None:
        """Several at once: all of them or none."""
        ...

    async def forget_file(self, book_id: str, source_file: str) -> None: ...
