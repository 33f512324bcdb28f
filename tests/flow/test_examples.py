"""The examples that come with the program, through the real model, database and index."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rag_core.books.book import BookIds
from rag_core.evaluation.question_set import load_question_set
from rag_core.ingestion.job import JobStatus
from rag_core.ingestion.pipeline import Ingestion, IngestionRequest
from rag_core.providers.edge.store import open_edge_store
from rag_core.providers.embedders.local import open_local_embedder
from rag_core.providers.local.joint_reader import open_joint_reader
from rag_core.reading.sections import read_sections
from rag_core.retrieval.query import EVERYTHING, SearchQuery
from rag_core.retrieval.retriever import Retriever
from rag_core.retrieval.sections import SectionSearch
from rag_core.storage.books import Books
from rag_core.storage.engines.database import open_database
from rag_core.storage.jobs import Jobs
from tests.flow.running_house import footnote

EXAMPLES = Path(__file__).parents[2] / "examples"
BOOKS = ("course", "handbook")

QUESTIONS = [
    ("course", "How much can the arm lift at full reach?", "meet-basil", "3 kg"),
    ("course", "What does code K31 mean?", "cleaning-and-faults", "warmer than 70"),
    ("course", "Which core temperature does poultry need?", "heat-and-food-safety", "74 °C"),
    ("course", "How do I start the simulator?", "start-the-simulator", "basil sim"),
    ("course", "How long does changing a gripper take?", "arm-and-gripper", "12 seconds"),
    ("course", "How fast may it move near people?", "stopping-safely", "0.25 m/s"),
    ("course", "When must the cameras be calibrated?", "eyes-and-scales", "once a week"),
    ("course", "How full may a pot be?", "recipes-as-data", "80 %"),
    ("handbook", "How many vacation days can I carry over?", "vacation", "5 days"),
    ("handbook", "What is the hotel limit in Zurich?", "expenses", "190 in Zurich"),
    ("handbook", "How quickly must a page be acknowledged?", "on-call", "10 minutes"),
    ("handbook", "On which day of the week do we release?", "releases", "Wednesday"),
    ("handbook", "When do I take my first ticket alone?", "onboarding", "two weeks"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@asynccontextmanager
async def house(folder: Path) -> AsyncIterator[tuple[Ingestion, Retriever]]:
    async with (
        open_database(f"sqlite+aiosqlite:///{folder}/footnote.db") as database,
        open_local_embedder() as embedder,
        open_edge_store(
            folder / "index", dimension=embedder.dimension, model=embedder.model
        ) as store,
        Ingestion(
            jobs=Jobs(database), books=Books(database), store=store, embedder=embedder
        ) as ingestion,
    ):
        for book in BOOKS:
            request = IngestionRequest(book_id=book, sources=(str(EXAMPLES / book),))
            job = await ingestion.wait((await ingestion.start(request)).job_id)
            assert job.status is JobStatus.COMPLETED
            assert (job.files_failed, job.notices) == (0, ())
        yield ingestion, Retriever(embedder=embedder, store=store)


async def test_questions_about_the_examples_find_their_page(folder: Path) -> None:
    async with house(folder) as (_, retriever), open_joint_reader() as reader:
        for book, question, page, words in QUESTIONS:
            query = SearchQuery(text=question, book_ids=BookIds([book]), audience=None, limit=3)
            found = (await SectionSearch(retriever).search(query)).results
            first = (await read_sections(question, found, reader))[0].result
            assert page in first.source_file, question
            assert any(words in " ".join(result.text.split()) for result in found), question
        assert await retriever.modules(books=BookIds(["course"]), filters=EVERYTHING) == [
            "module-1",
            "module-2",
            "module-3",
        ]


async def test_a_later_start_reads_nothing_anew(folder: Path) -> None:
    async with house(folder):
        pass
    async with house(folder) as (ingestion, _):
        request = IngestionRequest(book_id="course", sources=(str(EXAMPLES / "course"),))
        job = await ingestion.wait((await ingestion.start(request)).job_id)
        lessons = len([*(EXAMPLES / "course").rglob("*.md")])
        assert (job.files_processed, job.files_skipped) == (0, lessons)


def test_every_gold_answer_stands_on_the_page_that_is_said_to_hold_it() -> None:
    questions = load_question_set(EXAMPLES / "questions")
    pages = {page.source_file: " ".join(page.text.split()) for page in questions.pages}

    assert len(pages) == len([*EXAMPLES.glob("*/**/*.md")])
    for question in questions.questions:
        assert question.answerable == bool(question.gold_answers)
        for page in question.relevant_ids:
            assert all(gold in pages[page] for gold in question.gold_answers), question.question


async def test_the_questions_that_come_with_the_examples_find_their_pages(tmp_path: Path) -> None:
    printed, _ = await footnote("eval", str(EXAMPLES / "questions"), "--json", folder=tmp_path)

    assert json.loads(printed)["retrieval"]["recall_at_5"] >= 0.95
