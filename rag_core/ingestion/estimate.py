"""How fast a job goes, and how long it will still take."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from rag_core.ingestion.job import IngestionJob

LEAST_SECONDS = 0.5
"""Before that, a rate is a guess."""


class Estimate:
    """Measures a job from the moment that its files are known."""

    def __init__(self, job: IngestionJob, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._settled = settled(job)
        self._embedded = job.chunks_embedded

    def on(self, job: IngestionJob) -> IngestionJob:
        """The job with its rate, and what is left while it runs."""
        seconds = self._clock() - self._began
        if seconds < LEAST_SECONDS:
            return job
        files = settled(job) - self._settled
        left = job.files_found - settled(job)
        return replace(
            job,
            chunks_per_second=round((job.chunks_embedded - self._embedded) / seconds, 1),
            seconds_left=round(left * seconds / files, 1) if files and left > 0 else None,
        )


def settled(job: IngestionJob) -> int:
    return job.files_processed + job.files_skipped + job.files_failed
