"""What an admin of some books is told: of questions that were looked up in these alone."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from rag_core.agent.answer import Outcome
from rag_core.books.book import BookIds
from rag_core.conversation.state import RetrievalRecord
from rag_core.ingestion.job import IngestionJob, IngestionMode, JobStatus
from rag_core.insight.gap import Placed
from rag_core.storage.engines.engine import Database
from rag_core.storage.feedback import Feedback
from rag_core.storage.gaps import GapRecords
from rag_core.storage.jobs import Jobs
from rag_core.storage.stats import StatsRecords
from rag_core.storage.stories import Stories
from tests.builders import NOON, a_key, a_question, a_response, a_turn
from tests.contract.desk_work import DeskWork

COURSE, STAFF = BookIds(["course"]), BookIds(["staff"])
LOOKED_UP = {
    "in the course": ("course",),
    "in the staff book": ("staff",),
    "in both": ("course", "staff"),
    "by an older version": (),
}


async def answered(database: Database, name: str, outcome: Outcome = Outcome.NO_RESULTS) -> UUID:
    """A question that was looked up twice in the same books."""
    desk, key = DeskWork(database), a_key(name)
    state = await desk.open(key)
    question = await desk.accept(a_question(name, key=key))
    await desk.claim()
    record = RetrievalRecord(
        tool_name="retrieve_documentation",
        query=name,
        results_count=0,
        avg_similarity=0.0,
        timestamp=NOON,
        books=LOOKED_UP[name],
    )
    response = a_response("No.", query=name, outcome=outcome, citations=(), retrieval_count=2)
    turn = replace(a_turn(state.session_id, name, "No."), retrievals=(record, record))
    await desk.settle(question, turn=turn, response=response)
    await desk.ledger.close(question, delivered=True)
    return response.answer_id


async def test_stories_are_of_these_books_alone(database: Database) -> None:
    ids = {name: await answered(database, name) for name in LOOKED_UP}
    stories = Stories(database)
    assert [line.question for line in await stories.recent(limit=9, books=COURSE)] == [
        "in the course"
    ]
    assert len(await stories.recent(limit=9)) == 4
    assert len(await stories.recent(limit=9, books=BookIds(["course", "staff"]))) == 3
    for name, answer_id in ids.items():
        told = await stories.of(answer_id, books=STAFF)
        assert (told is not None) is (name == "in the staff book")
        assert await stories.of(answer_id) is not None


async def test_numbers_count_questions_of_these_books_alone(database: Database) -> None:
    for name in LOOKED_UP:
        answer_id = await answered(database, name)
        await Feedback(database).rate(answer_id=answer_id, asker_id="a", helpful=True)
    own = await StatsRecords(database).last_days(3, books=STAFF)
    assert (own.total.questions, own.total.helpful) == (1, 1)
    assert own.total.outcomes == {"no_results": 1}
    assert own.waiting.p50 is not None
    assert (await StatsRecords(database).last_days(3)).total.questions == 4
    none = await StatsRecords(database).last_days(3, books=BookIds(["other"]))
    assert (none.total.questions, none.waiting.p50) == (0, None)


async def test_a_gap_shows_its_questions_of_these_books_alone(database: Database) -> None:
    ids = [await answered(database, name) for name in LOOKED_UP]
    shared, own = UUID(int=1), UUID(int=2)
    placed = [Placed(answer_id=each, gap_id=shared, asked_at=NOON) for each in ids[1:]]
    placed.append(Placed(answer_id=ids[0], gap_id=own, asked_at=NOON))
    gaps = GapRecords(database)
    await gaps.place(placed, opened=[shared, own], model="words")
    (seen,) = await gaps.listed(books=STAFF)
    assert (seen.gap_id, seen.count, seen.example) == (shared, 1, "in the staff book")
    assert seen.examples == ()
    assert not await gaps.is_within(shared, books=STAFF)
    assert await gaps.is_within(own, books=COURSE)
    assert not await gaps.is_within(UUID(int=3), books=COURSE)
    assert {gap.count for gap in await gaps.listed()} == {3, 1}


async def test_jobs_of_other_books_do_not_push_out_those_of_these(database: Database) -> None:
    jobs = Jobs(database)
    for number in range(6):
        await jobs.save(
            IngestionJob(
                job_id=UUID(int=number),
                book_id="course" if number else "staff",
                mode=IngestionMode.INCREMENTAL,
                status=JobStatus.QUEUED,
                started_at=NOON.replace(minute=number),
            )
        )
    assert [job.job_id for job in await jobs.recent(limit=2, books=STAFF)] == [UUID(int=0)]
    assert len(await jobs.recent(limit=2, books=COURSE)) == 2
