"""A job tells how fast it goes and what is left, and guesses nothing too early."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

from rag_core.ingestion.estimate import Estimate
from rag_core.ingestion.job import IngestionJob, IngestionMode, JobStatus
from tests.builders import NOON

JOB = IngestionJob(
    job_id=uuid4(),
    book_id="course",
    mode=IngestionMode.INCREMENTAL,
    status=JobStatus.RUNNING,
    started_at=NOON,
    files_found=110,
    files_skipped=10,
    chunks_embedded=5,
)


def test_the_rate_and_what_is_left_are_those_of_this_run() -> None:
    now = [100.0]
    estimate = Estimate(JOB, clock=lambda: now[0])
    later = replace(JOB, files_processed=24, files_failed=1, chunks_embedded=105)
    now[0] += 0.4
    assert estimate.on(later) == later, "too early to tell"
    now[0] += 9.6
    told = estimate.on(later)
    assert (told.chunks_per_second, told.seconds_left) == (10.0, 30.0)
    over = estimate.on(replace(told, files_processed=99))
    assert over.seconds_left is None


def test_where_nothing_is_done_yet_nothing_is_promised() -> None:
    now = [0.0]
    estimate = Estimate(JOB, clock=lambda: now[0])
    now[0] = 60.0
    told = estimate.on(JOB)
    assert (told.chunks_per_second, told.seconds_left) == (0.0, None)
