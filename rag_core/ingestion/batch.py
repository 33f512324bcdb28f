"""The files that one step of a run takes on together, cut and ready to be embedded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from rag_core.agent.checks.instructions import hidden_orders
from rag_core.errors import IngestionError
from rag_core.ingestion.course import CoursePlace, course_place
from rag_core.ingestion.cutting import Edition, Shelf, chunks_of
from rag_core.ingestion.documents import DocumentChunk
from rag_core.ingestion.job import FileFailure, IngestionRecord
from rag_core.ingestion.loaders import Loader, read_source
from rag_core.ingestion.survey import Known, Plan, Surveyed
from rag_core.retrieval.results import SearchResult

FIRST_FILES, MOST_FILES = 4, 64
ORDERS_NAMED, LONGEST_EXCERPT = 3, 80
"""Examples in a notice, and how long each may be."""
MOST_CHUNKS = 512
"""A batch is closed when it has so many: one file may have more of them."""
QUICK_SECONDS, SLOW_SECONDS = 0.25, 1.0
"""A batch is shown and can be stopped as a whole: it grows while it is quick, and shrinks."""


class Pace:
    """How many files the next batch takes on."""

    def __init__(self) -> None:
        self.files = FIRST_FILES

    def took(self, seconds: float) -> None:
        if seconds < QUICK_SECONDS:
            self.files = min(MOST_FILES, self.files * 2)
        elif seconds > SLOW_SECONDS:
            self.files = max(1, self.files // 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutFile:
    """A file's new version in chunks, and what it leaves in the database."""

    chunks: tuple[DocumentChunk, ...]
    record: IngestionRecord
    notices: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.record.source_file

    @property
    def shown(self) -> int | None:
        """The version that readers get; a file without text has none."""
        return self.record.version if self.chunks else None


@dataclass(slots=True, kw_only=True)
class Batch:
    """What became of the first files of those that were to be read."""

    files: list[CutFile] = field(default_factory=list)
    failures: list[FileFailure] = field(default_factory=list)

    @property
    def taken(self) -> int:
        return len(self.files) + len(self.failures)

    def chunks(self) -> list[DocumentChunk]:
        return [chunk for file in self.files for chunk in file.chunks]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutter:
    """Cuts files as one run wants them."""

    plan: Plan
    known: Known
    shelf: Shelf
    loader: Loader
    folders: dict[str, str] = field(default_factory=dict)
    """Each source by its whole path, which takes longer to find out than a small file to read."""

    def batch(self, files: Iterable[Surveyed], old: Sequence[SearchResult], now: datetime) -> Batch:
        """As many of the files as one batch holds. Blocks."""
        first = first_read(old)
        batch = Batch()
        chunks = 0
        for surveyed in files:
            if chunks >= MOST_CHUNKS:
                break
            try:
                before = self.known.same_text(surveyed)
                created_at = first.get(before.source_file, now) if before else now
                cut = self.cut(surveyed, created_at, now)
            except IngestionError as error:
                batch.failures.append(FileFailure(source_file=error.source, reason=error.reason))
            else:
                batch.files.append(cut)
                chunks += len(cut.chunks)
        return batch

    def cut(self, surveyed: Surveyed, created_at: datetime, now: datetime) -> CutFile:
        name = surveyed.file.source_file
        edition = Edition(
            version=self.known.next_version(name),
            created_at=created_at,
            updated_at=now,
            owns_lesson=self.plan.owns_lesson(surveyed),
        )
        chunks, course, notices = cut_file(surveyed, self.shelf, edition, self.loader)
        return CutFile(
            chunks=chunks,
            record=IngestionRecord(
                source_file=name,
                file_hash=surveyed.hash,
                version=edition.version,
                chunk_ids=tuple(chunk.id for chunk in chunks),
                ingested_at=now,
                module=course.module,
                chapter=course.chapter,
                lesson=course.lesson,
                source=self.folder_of(surveyed.file.source),
            ),
            notices=notices,
        )

    def folder_of(self, source: str) -> str:
        if source not in self.folders:
            self.folders[source] = str(Path(source).resolve())
        return self.folders[source]


def cut_file(
    surveyed: Surveyed, shelf: Shelf, edition: Edition, loader: Loader
) -> tuple[tuple[DocumentChunk, ...], CoursePlace, tuple[str, ...]]:
    """A file's chunks, and what there is to say of it. Blocks."""
    name = surveyed.file.source_file
    document = loader.load(name, read_source(surveyed.file))
    if document.file_hash != surveyed.hash:
        raise IngestionError(name, "read", "it changed while it was read; run again")
    if address := shelf.addresses.get(surveyed.file.path):
        document = replace(document, fields={**document.fields, "url": address})
    course = course_place(name, document.fields)
    chunks = chunks_of(document, course, shelf=shelf, edition=edition)
    notices = [*document.notices, *course.notices, *orders_notices(chunks)]
    if not chunks:
        notices.append("there is no text in it")
    return chunks, course, tuple(f"{name}: {notice}" for notice in notices)


def orders_notices(chunks: Sequence[DocumentChunk]) -> list[str]:
    """Names the text that no answer shows, because it reads like orders to the assistant."""
    found: dict[str, None] = {}
    for chunk in chunks:
        m = chunk.metadata
        labels = (m.page_title, m.section_heading, m.source_file)
        found |= dict.fromkeys(hidden_orders(chunk.text, *labels))
    if not found:
        return []
    examples = ", ".join(f'"{excerpt(each)}"' for each in islice(found, ORDERS_NAMED))
    what = "1 paragraph reads" if len(found) == 1 else f"{len(found)} paragraphs read"
    return [f"{what} like instructions to an AI assistant; left out of answers: {examples}"]


def excerpt(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST_EXCERPT else f"{plain[: LONGEST_EXCERPT - 1]}…"


def first_read(old: Sequence[SearchResult]) -> Mapping[str, datetime]:
    """When each file first came into the book."""
    times: dict[str, list[str]] = defaultdict(list)
    for result in old:
        if "created_at" in result.metadata:
            times[result.source_file].append(result.metadata["created_at"])
    return {name: datetime.fromisoformat(min(each)) for name, each in times.items()}
