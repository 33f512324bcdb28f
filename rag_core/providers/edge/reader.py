"""The one thread that reads the embedded index, and hands over what it found in few steps.

The engine lets nothing else in the process run while it works, and each hand-over makes reader and
event loop wait for each other. With many askers at once they come together: what a few
milliseconds found goes over in one step, and a single asker waits for nobody.

After each step the reader waits until the event loop has taken what it was handed. Python gives a
waiting thread its turn only where the working one did not give way by itself within a millisecond;
the engine does so time and again, for too short for anybody to take the turn. Without the wait the
event loop stood still for as long as there was something to read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

TOGETHER_SECONDS = 0.002
"""So long a first result may wait for others behind it."""


class Job(NamedTuple):
    """A read, and who waits for it."""

    work: Callable[[], Any]
    answer: asyncio.Future[Any]


class Outcome(NamedTuple):
    """What came of a read."""

    answer: asyncio.Future[Any]
    found: Any = None
    error: BaseException | None = None


class Reader:
    """Runs reads one after the other in a thread of its own."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def read(self, work: Callable[[], T]) -> T:
        answer: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put(Job(work, answer))
        return await answer

    async def close(self) -> None:
        """After what is under way."""
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        job = self._jobs.get()
        while job is not None:
            taken = Event()
            self._loop.call_soon_threadsafe(hand_over, self._together(job), taken)
            taken.wait()
            job = self._jobs.get()

    def _together(self, job: Job) -> list[Outcome]:
        """The outcomes of this job and of those that wait behind it, as time allows."""
        until = perf_counter() + TOGETHER_SECONDS
        outcomes = [outcome_of(job)]
        while perf_counter() < until:
            try:
                following = self._jobs.get_nowait()
            except Empty:
                break
            if following is None:
                self._jobs.put(None)  # to be met again, once these are handed over
                break
            outcomes.append(outcome_of(following))
        return outcomes


def outcome_of(job: Job) -> Outcome:
    """Nothing is done for an asker who went away meanwhile."""
    if job.answer.cancelled():
        return Outcome(job.answer)
    try:
        return Outcome(job.answer, found=job.work())
    except StopIteration as error:  # which no future takes
        return Outcome(job.answer, error=RuntimeError(f"nothing more to read: {error!r}"))
    except BaseException as error:  # noqa: BLE001 - whoever waits for it hears of it
        return Outcome(job.answer, error=error)


def hand_over(outcomes: list[Outcome], taken: Event) -> None:
    try:
        for answer, found, error in outcomes:
            if answer.done():
                continue
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(found)
    finally:
        taken.set()  # or nobody would ever be read for again
