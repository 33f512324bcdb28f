"""The questions of a first visit: made of headings, and answered by the book."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.books.book import Book, BookIds
from rag_core.books.heading_question import question_of
from rag_core.books.starters import SEARCHES, Starters
from rag_core.errors import StorageError
from rag_core.ingestion.job import IngestionRecord
from rag_core.retrieval.results import SearchResult
from tests.fakes.ingestion_stores import MemoryBooks, MemoryJobs
from tests.fakes.memory_retriever import MemoryRetriever, passage
from tests.fakes.sections import judge_by_words

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ENGLISH = "This is how it is done in the house, and what to do with it."
HANDBOOK = BookIds(["handbook"])


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("How much does it cost?", "How much does it cost?"),
        ("3.2 What Basil can do", "What can Basil do?"),
        ("What Basil cannot do", "What can't Basil do?"),
        ("What finance will ask", "What will finance ask?"),
        ("What you are expected to do", "What am I expected to do?"),
        ("Who may do what", "Who may do what?"),
        ("How to ask for leave", "How do I ask for leave?"),
        ("How we release a version", "How do we release a version?"),
        ("When you need your manager", "What should I do when I need my manager?"),
        ("Start the simulator", "How do I start the simulator?"),
        ("Calibrating the cameras", "How does calibrating the cameras work?"),
        ("The danger zone", "What is the danger zone?"),
        ("The three parts of the course", "What are the three parts of the course?"),
        ("Three ways to stop", "What are the three ways to stop?"),
        ("Feature flags", "How do feature flags work?"),
        ("`Feature` flags:", "How do feature flags work?"),
        ("Calibrating the cameras, page 12", "How does calibrating the cameras work?"),
    ],
)
def test_a_heading_becomes_the_question_that_it_answers(heading: str, question: str) -> None:
    made = question_of(heading, ENGLISH)
    assert made is not None
    assert made[1] == question


@pytest.mark.parametrize(
    "heading",
    [
        "Limits", "", "?", "Why?", "When it does not start", "Install it", "Next steps",
        "First three months", "The basics", "GET /threads", "Key takeaways", "Install drivers",
        "This is a heading that goes on and on for far too many words to ask",
    ],
)  # fmt: skip
def test_a_heading_that_makes_no_natural_question_makes_none(heading: str) -> None:
    assert question_of(heading, ENGLISH) is None


def test_other_languages_are_asked_only_in_their_own_words() -> None:
    german = "Hier steht, was für die Kasse gilt und wie man mit ihr abrechnet."
    assert question_of("The Kassen Meetings", german) is None
    made = question_of("Wie wird die Kasse abgerechnet?", german)
    assert made is not None
    assert made[1] == "Wie wird die Kasse abgerechnet?"


@given(st.text(max_size=60), st.sampled_from([ENGLISH, "", "Der Text ist nicht für alle."]))
def test_whatever_a_heading_is_its_question_is_short_and_ends_as_one(
    heading: str, text: str
) -> None:
    made = question_of(heading, text)
    if made is not None:
        assert made[1].endswith("?")
        assert 3 <= len(made[1]) <= len(heading) + 40


class Shelf:
    """A book in memory, with a retriever that finds by words."""

    def __init__(self, *passages: SearchResult) -> None:
        self.passages = list(passages)
        self.retriever = MemoryRetriever(self.passages)
        self.books = MemoryBooks()
        self.jobs = MemoryJobs()
        self.readings = 0
        self.failure: Exception | None = None
        self.starters = Starters(
            books=self.books,
            files=self.jobs,
            passages=self,
            retriever=self.retriever,
            judge=judge_by_words(intercept=-2.0),
        )

    async def ingest(self, *, at: datetime = NOON) -> None:
        for file in {p.source_file for p in self.passages}:
            ids = tuple(p.chunk_id for p in self.passages if p.source_file == file)
            record = IngestionRecord(
                source_file=file, file_hash="0", version=1, chunk_ids=ids, ingested_at=at
            )
            await self.jobs.record("handbook", record)
        await self.books.save(Book(book_id="handbook", title="H", last_incremental_update=at))

    async def chunks(
        self, chunk_ids: Sequence[str], *, books: BookIds
    ) -> Mapping[str, SearchResult]:
        self.readings += 1
        if self.failure is not None:
            raise self.failure
        return {p.chunk_id: p for p in self.passages if p.chunk_id in chunk_ids}

    async def offered(self) -> Sequence[str]:
        return await self.starters.of(HANDBOOK)


def section(title: str, heading: str, text: str = ENGLISH) -> SearchResult:
    words = f"{heading}: {text} On the page about {title}."
    return passage(words, title=title, heading=heading)


def sections() -> list[SearchResult]:
    return [
        section("Money", "Company cards"),
        section("Money", "What finance will ask"),
        section("Flow", "Limits"),
        section("Flow", "The danger zone"),
        section("People", "When you need a manager"),
        section("People", "How to ask for leave"),
        section("Ships", "Feature flags"),
    ]


async def test_three_questions_of_three_pages_the_most_natural_first() -> None:
    shelf = Shelf(*sections())
    await shelf.ingest()
    assert await shelf.offered() == (
        "What should I do when I need a manager?",
        "What will finance ask?",
        "How do feature flags work?",
    )


async def test_what_the_book_does_not_answer_with_confidence_is_not_offered() -> None:
    unsure = replace(section("Ships", "Feature flags"), text="Nothing of the kind.", page_title="")
    shelf = Shelf(section("Money", "What finance will ask"), unsure)
    await shelf.ingest()
    shelf.retriever.passages = [
        p if p is not unsure else replace(p, section_heading="Else") for p in shelf.passages
    ]
    assert await shelf.offered() == ("What will finance ask?",)


async def test_a_question_that_leads_to_another_section_is_not_offered() -> None:
    own = section("Ships", "The zones of danger")
    other = section("Flow", "Zones danger", "The zones of danger are red.")
    shelf = Shelf(own, other)
    await shelf.ingest()
    assert await shelf.offered() == ("What are the zones of danger?",)
    shelf = Shelf(replace(own, text="Red."), other)
    shelf.retriever.passages = [other, replace(own, book_id="elsewhere")]
    await shelf.ingest()
    assert await shelf.offered() == ()


async def test_headings_that_stand_twice_ask_nothing_clear() -> None:
    shelf = Shelf(section("Money", "Feature flags"), section("Ships", "Feature flags"))
    await shelf.ingest()
    assert await shelf.offered() == ()


async def test_they_are_made_once_for_each_state_of_the_book() -> None:
    shelf = Shelf(*sections())
    await shelf.ingest()
    first = await shelf.offered()
    assert await shelf.offered() == first
    assert shelf.readings == 1
    shelf.passages[:] = [section("Money", "Company cards")]
    shelf.retriever.passages = shelf.passages
    await shelf.ingest(at=NOON.replace(hour=13))
    assert await shelf.offered() == ("How do company cards work?",)
    assert shelf.readings == 2


async def test_the_searches_for_a_page_are_bounded() -> None:
    shelf = Shelf(*(section(f"Page {n}", f"Coloured flags{'x' * n}s") for n in range(60)))
    await shelf.ingest()
    shelf.retriever.passages = []
    assert await shelf.offered() == ()
    assert len(shelf.retriever.asked) == SEARCHES


async def test_a_failure_costs_the_questions_and_not_the_page_and_is_not_remembered() -> None:
    shelf = Shelf(*sections())
    await shelf.ingest()
    shelf.failure = StorageError("the disk is gone")
    assert await shelf.offered() == ()
    shelf.failure = None
    assert len(await shelf.offered()) == 3


async def test_only_what_is_out_is_looked_at() -> None:
    before = datetime.now(UTC)
    shelf = Shelf(*sections())
    await shelf.ingest()
    await shelf.offered()
    asked = [query.filters.released_at for query in shelf.retriever.asked]
    assert asked
    assert all(until is not None and before <= until <= datetime.now(UTC) for until in asked)
