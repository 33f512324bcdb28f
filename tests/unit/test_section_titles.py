"""Section titles are proposed at once, and only to who may find their sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from adapters.section_titles import SectionTitles
from rag_core.books.book import BookIds
from rag_core.ingestion.job import IngestionRecord, IngestionState
from rag_core.retrieval.query import Filters, Proficiency
from rag_core.retrieval.results import SearchResult
from tests.builders import NOON, a_result

COURSE = BookIds(["course"])
SUMMER = datetime(2026, 7, 1, tzinfo=UTC)


class Index:
    """Files and passages of one book."""

    def __init__(self, *sections: SearchResult) -> None:
        self.sections = {result.chunk_id: result for result in sections}
        self.version = 1
        self.looks = 0

    async def state(self, book_id: str) -> IngestionState:
        record = IngestionRecord(
            source_file="a.md",
            file_hash="0",
            version=self.version,
            chunk_ids=tuple(self.sections),
            ingested_at=NOON,
        )
        return IngestionState(book_id=book_id, collection="docs", records={"a.md": record})

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]:
        self.looks += 1
        return {chunk: self.sections[chunk] for chunk in chunk_ids}


def a_section(title: str, **changes: Any) -> SearchResult:
    return a_result(chunk_id=title, section_heading=title, **changes)


async def near(titles: SectionTitles, typed: str, **filters: Any) -> Sequence[str]:
    return await titles.near(typed, books=COURSE, filters=Filters(**filters), limit=3)


async def test_titles_that_begin_with_what_was_typed_come_first_and_are_few() -> None:
    names = ["Daily limits", "Limits", "limits of speed", "No limits", "Other", "Old limits"]
    index = Index(*map(a_section, names))
    titles = SectionTitles(files=index, passages=index)
    assert await near(titles, "LIM") == ["Limits", "limits of speed", "Daily limits"]
    assert await near(titles, "nothing") == []
    assert index.looks == 1


async def test_a_title_is_proposed_to_those_only_who_may_find_its_section() -> None:
    index = Index(
        a_section("Exam", metadata={"released_at": "2026-09-01T00:00:00+00:00"}),
        a_section("Robot", hardware_tier=3),
        a_section("Theory", proficiency_level="C1"),
        a_section("Motors", module="ros-2"),
    )
    titles = SectionTitles(files=index, passages=index)
    assert "Exam" not in await near(titles, "", released_at=SUMMER)
    assert "Exam" in await near(titles, "exam", released_at=datetime(2026, 9, 2, tzinfo=UTC))
    assert await near(titles, "robot", hardware_tier=2) == []
    assert await near(titles, "robot", hardware_tier=3) == ["Robot"]
    assert await near(titles, "theory", proficiency_levels=(Proficiency.A1,)) == []
    assert await near(titles, "", modules=("ros-2",)) == ["Motors"]
