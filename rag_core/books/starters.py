"""Questions for somebody's first visit, which the books at hand can answer."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, zip_longest
from typing import Protocol

from rag_core.agent.confidence.judgement import Judge
from rag_core.books.book import Book, BookIds
from rag_core.books.heading_question import Kind, question_of
from rag_core.errors import FootnoteError
from rag_core.ingestion.job import IngestionState
from rag_core.retrieval.query import Filters, SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult

log = logging.getLogger(__name__)

OFFERED = 3
LOOKED_AT = 300
"""Chunks of a book whose headings are read; of a large book, the first of each file."""
SEARCHES = 20
"""Headings that are tried, at most: somebody waits for the page."""
KEPT = 32
"""Selections of books whose starters are remembered."""


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


class Searches(Protocol):
    """The retriever."""

    async def search(self, query: SearchQuery) -> SearchResponse: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A question, and the passage whose heading it was made of."""

    kind: Kind
    question: str
    passage: SearchResult


class Starters:
    """Makes questions of headings, and offers those that a search answers with confidence."""

    def __init__(
        self,
        *,
        books: KnowsBooks,
        files: KnowsFiles,
        passages: ReadsPassages,
        retriever: Searches,
        judge: Judge,
    ) -> None:
        self._books = books
        self._files = files
        self._passages = passages
        self._retriever = retriever
        self._judge = judge
        self._known: dict[BookIds, tuple[Sequence[Book | None], Sequence[str]]] = {}
        self._one_at_a_time = asyncio.Lock()

    async def of(self, books: BookIds) -> Sequence[str]:
        """At most three; made anew after each ingestion. A page is no worse off without them."""
        try:
            async with self._one_at_a_time:
                return await self._of(books)
        except FootnoteError as error:
            log.warning("no starters", extra={"cause": type(error).__name__})
            return ()

    async def _of(self, books: BookIds) -> Sequence[str]:
        editions = [await self._books.get(book_id) for book_id in books]
        if books in self._known and self._known[books][0] == editions:
            return self._known[books][1]
        made = await self._made(books)
        self._known.pop(books, None)
        while len(self._known) >= KEPT:
            self._known.pop(next(iter(self._known)))
        self._known[books] = (editions, made)
        return made

    async def _made(self, books: BookIds) -> Sequence[str]:
        offered: list[Candidate] = []
        for tried, candidate in enumerate(candidates(await self._read(books))):
            if len(offered) == OFFERED or tried == SEARCHES:
                break
            seen = {other.passage.parent_doc_id for other in offered}
            if candidate.passage.parent_doc_id not in seen and await self._sure(candidate, books):
                offered.append(candidate)
        return tuple(candidate.question for candidate in offered)

    async def _read(self, books: BookIds) -> Sequence[SearchResult]:
        """The passages whose headings are looked at, in the order of the files."""
        ids = [
            chunk_id
            for book_id in books
            for chunk_id in firsts_first(await self._files.state(book_id))
        ][:LOOKED_AT]
        found = await self._passages.chunks(ids, books=books)
        return [found[chunk_id] for chunk_id in ids if chunk_id in found]

    async def _sure(self, candidate: Candidate, books: BookIds) -> bool:
        """Whether the search finds the very section first, and enough to answer.

        What is not out yet is not found by readers, so that nothing is offered of it."""
        out = Filters(released_at=datetime.now(UTC))
        query = SearchQuery(text=candidate.question, book_ids=books, audience=None, filters=out)
        results = (await self._retriever.search(query)).results
        own = candidate.passage
        places = [(result.parent_doc_id, result.section_heading) for result in results[:1]]
        if places != [(own.parent_doc_id, own.section_heading)]:
            return False
        return (await self._judge.judge(candidate.question, results)).is_sure


def candidates(passages: Iterable[SearchResult]) -> Sequence[Candidate]:
    """The questions that the headings make, the most natural first, each page's first ones first.

    A heading that stands in several places asks nothing clear."""
    firsts = {(p.parent_doc_id, p.section_heading): p for p in reversed(list(passages))}
    times = Counter(heading.lower() for _, heading in firsts)
    made = [
        Candidate(kind=asked[0], question=asked[1], passage=passage)
        for (_, heading), passage in reversed(firsts.items())
        if times[heading.lower()] == 1
        and heading != passage.page_title
        and (asked := question_of(heading, passage.text))
    ]
    return sorted(made, key=lambda candidate: candidate.kind)


def firsts_first(state: IngestionState) -> Iterable[str]:
    """The first chunk of each file, then the second of each, and so on."""
    files = [state.records[name].chunk_ids for name in sorted(state.records)]
    return (chunk_id for chunk_id in chain.from_iterable(zip_longest(*files)) if chunk_id)
