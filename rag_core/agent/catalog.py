"""What the documents are, as the model is told before it searches them."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from rag_core.agent.language.languages import language_of
from rag_core.books.book import Book, BookIds
from rag_core.errors import FootnoteError
from rag_core.ingestion.job import IngestionState
from rag_core.retrieval.results import SearchResult

log = logging.getLogger(__name__)

SAMPLED_FILES = 8
KEPT = 200
LANGUAGES = {"en": "English", "de": "German", "es": "Spanish", "fr": "French"}


class DescribesDocuments(Protocol):
    """Whoever knows what the documents are."""

    async def describe(self, books: BookIds) -> Documents: ...


class KnowsBooks(Protocol):
    """The books there are."""

    async def get(self, book_id: str) -> Book | None: ...


class KnowsFiles(Protocol):
    """What each file of a book left in the index."""

    async def state(self, book_id: str) -> IngestionState: ...


class ReadsPassages(Protocol):
    """The index."""

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """The titles of the books that an answer may come from, and the languages they are in."""

    titles: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


class Catalog:
    """Describes books by their titles and by a sample of their text; remembers each one until it
    is ingested anew."""

    def __init__(self, *, books: KnowsBooks, files: KnowsFiles, passages: ReadsPassages) -> None:
        self._books = books
        self._files = files
        self._passages = passages
        self._languages: OrderedDict[tuple[str, datetime | None], str] = OrderedDict()

    async def describe(self, books: BookIds) -> Documents:
        """An answer does not wait for it: where the stores fail, nothing is told."""
        try:
            found = [book for book_id in books if (book := await self._books.get(book_id))]
            languages = [await self._language(book) for book in found]
        except FootnoteError as error:
            log.warning("books not described", extra={"cause": type(error).__name__})
            return Documents()
        return Documents(
            titles=tuple(book.title for book in found),
            languages=tuple(dict.fromkeys(filter(None, languages))),
        )

    async def _language(self, book: Book) -> str:
        key = (book.book_id, book.last_incremental_update or book.last_full_ingest)
        if key not in self._languages:
            self._languages[key] = LANGUAGES.get(await self._sampled_language(book.book_id), "")
            while len(self._languages) > KEPT:
                self._languages.popitem(last=False)
        return self._languages[key]

    async def _sampled_language(self, book_id: str) -> str:
        files = list((await self._files.state(book_id)).records.values())
        sample = files[:: max(1, len(files) // SAMPLED_FILES)][:SAMPLED_FILES]
        chunk_ids = [file.chunk_ids[0] for file in sample if file.chunk_ids]
        found = await self._passages.chunks(chunk_ids, books=BookIds([book_id]))
        return language_of(" ".join(each.text for each in found.values())) or ""
