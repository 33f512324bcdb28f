"""What the model is told of the documents: titles, and the language that they are written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from rag_core.agent.catalog import Catalog
from rag_core.books.book import Book, BookIds
from rag_core.errors import StorageError
from rag_core.ingestion.job import IngestionRecord, IngestionState
from rag_core.retrieval.results import SearchResult
from tests.builders import NOON
from tests.fakes.memory_retriever import passage

TEXTS = {
    "de": "Die Pumpe ist mit dem Ventil verbunden und wird von der Steuerung geschaltet.",
    "en": "The pump is connected to the valve and it is switched by the controller.",
}


@dataclass
class House:
    """Two books in memory, and how often their text was read."""

    books: dict[str, Book] = field(default_factory=dict)
    reads: int = 0
    failure: Exception | None = None

    async def get(self, book_id: str) -> Book | None:
        if self.failure:
            raise self.failure
        return self.books.get(book_id)

    async def state(self, book_id: str) -> IngestionState:
        record = IngestionRecord(
            source_file="a.md", file_hash="h", version=1, ingested_at=NOON, chunk_ids=(book_id,)
        )
        return IngestionState(book_id=book_id, collection="c", records={"a.md": record})

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]:
        self.reads += 1
        return {one: passage(TEXTS[one]) for one in chunk_ids if one in books}


def shelf() -> tuple[House, Catalog]:
    house = House({name: Book(book_id=name, title=f"Manual {name}") for name in TEXTS})
    return house, Catalog(books=house, files=house, passages=house)


async def test_titles_and_languages_of_these_books_are_told() -> None:
    _, catalog = shelf()
    both = await catalog.describe(BookIds(["de", "en", "gone"]))
    assert both.titles == ("Manual de", "Manual en")
    assert both.languages == ("German", "English")
    assert (await catalog.describe(BookIds(["de"]))).languages == ("German",)


async def test_a_book_is_read_again_only_when_it_was_ingested_anew() -> None:
    house, catalog = shelf()
    for _ in range(3):
        await catalog.describe(BookIds(["de"]))
    assert house.reads == 1
    later = NOON + timedelta(days=1)
    house.books["de"] = replace(house.books["de"], last_incremental_update=later)
    await catalog.describe(BookIds(["de"]))
    assert house.reads == 2


async def test_an_answer_does_not_fail_for_it() -> None:
    house, catalog = shelf()
    house.failure = StorageError("The database is locked.")
    assert (await catalog.describe(BookIds(["de"]))).titles == ()
