"""The section titles of a book, to be proposed while somebody types; no model and no search."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Protocol

from rag_core.books.book import BookIds
from rag_core.ingestion.job import IngestionState
from rag_core.retrieval.query import Filters
from rag_core.retrieval.results import SearchResult

FRESH_SECONDS = 60.0
MOST_SECTIONS = 20_000
A_LOOK = 500


class KnowsFiles(Protocol):
    """What each file of a book left in the index, as the job store knows it."""

    async def state(self, book_id: str) -> IngestionState: ...


class KnowsPassages(Protocol):
    """The index, by the ids of its passages."""

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section, with what decides who may find it."""

    title: str
    module: str | None
    hardware_tier: int | None
    proficiency_level: str | None
    released_at: datetime | None

    def is_open_to(self, filters: Filters) -> bool:
        """As a search with these conditions would find it."""
        modules = {*filters.modules, *([filters.module] if filters.module else [])}
        tier, levels = filters.hardware_tier, filters.proficiency_levels
        due = filters.released_at
        return (
            (not modules or self.module in modules)
            and (tier is None or self.hardware_tier is None or self.hardware_tier <= tier)
            and (not levels or self.proficiency_level in levels)
            and (due is None or self.released_at is None or self.released_at <= due)
        )


@dataclass(slots=True)
class Shelf:
    """The sections of one book, as they were read then."""

    sections: Sequence[Section]
    read_at: float
    edition: object


class SectionTitles:
    """Keeps the sections of the books in use; a book that changed is read again."""

    def __init__(self, *, files: KnowsFiles, passages: KnowsPassages) -> None:
        self._files = files
        self._passages = passages
        self._shelves: dict[str, Shelf] = {}
        self._reading: dict[str, asyncio.Lock] = {}

    async def near(
        self, typed: str, *, books: BookIds, filters: Filters, limit: int
    ) -> Sequence[str]:
        """The titles that hold what was typed; those that begin with it come first."""
        wanted = typed.casefold().strip()
        found: dict[str, bool] = {}
        for book_id in books:
            for section in await self._sections(book_id):
                if wanted in section.title.casefold() and section.is_open_to(filters):
                    found.setdefault(section.title, section.title.casefold().startswith(wanted))
        return sorted(found, key=lambda title: not found[title])[:limit]

    async def _sections(self, book_id: str) -> Sequence[Section]:
        async with self._reading.setdefault(book_id, asyncio.Lock()):
            shelf = self._shelves.get(book_id)
            if shelf is not None and monotonic() - shelf.read_at < FRESH_SECONDS:
                return shelf.sections
            state = await self._files.state(book_id)
            edition = {name: record.version for name, record in state.records.items()}
            if shelf is None or shelf.edition != edition:
                shelf = Shelf(await self._read(book_id, state), monotonic(), edition)
            shelf.read_at = monotonic()
            self._shelves[book_id] = shelf
            return shelf.sections

    async def _read(self, book_id: str, state: IngestionState) -> Sequence[Section]:
        ids = [chunk for record in state.records.values() for chunk in record.chunk_ids]
        sections: dict[Section, None] = {}
        for start in range(0, min(len(ids), MOST_SECTIONS), A_LOOK):
            found = await self._passages.chunks(
                ids[start : start + A_LOOK], books=BookIds([book_id])
            )
            sections |= dict.fromkeys(sections_of(found.values()))
        return list(sections)


def sections_of(results: Iterable[SearchResult]) -> Iterable[Section]:
    for result in results:
        title = result.section_heading or result.page_title
        if title.strip():
            yield Section(
                title=" ".join(title.split()),
                module=result.module,
                hardware_tier=result.hardware_tier,
                proficiency_level=result.proficiency_level,
                released_at=moment(result.metadata.get("released_at")),
            )


def moment(value: object) -> datetime | None:
    if isinstance(value, str):
        return datetime.fromisoformat(value)
    return value if isinstance(value, datetime) else None
