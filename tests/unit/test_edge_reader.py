"""The index's reading thread: every asker gets an answer, whoever else asks or goes away."""

from __future__ import annotations

import asyncio
import threading
from time import perf_counter

import pytest

from rag_core.providers.edge.reader import TOGETHER_SECONDS, Reader


async def test_each_asker_gets_its_own_answer_in_one_thread() -> None:
    reader = Reader("reading")

    def work(number: int) -> tuple[int, str]:
        return number, threading.current_thread().name

    found = await asyncio.gather(*(reader.read(lambda n=n: work(n)) for n in range(200)))
    assert found == [(number, "reading") for number in range(200)]
    await reader.close()


async def test_an_error_reaches_its_asker_and_nobody_else() -> None:
    reader = Reader("reading")

    def fails() -> None:
        raise KeyError("gone")

    answers = await asyncio.gather(
        reader.read(lambda: 1), reader.read(fails), reader.read(lambda: 2), return_exceptions=True
    )
    assert (answers[0], answers[2]) == (1, 2)
    assert isinstance(answers[1], KeyError)
    await reader.close()


async def test_a_read_that_finds_nothing_more_fails_alone_and_the_reader_goes_on() -> None:
    reader = Reader("reading")
    nothing: list[int] = []
    with pytest.raises(RuntimeError, match="nothing more"):
        async with asyncio.timeout(10):
            await reader.read(lambda: next(iter(nothing)))
    async with asyncio.timeout(10):
        assert await reader.read(lambda: 1) == 1
    await reader.close()


async def test_who_goes_away_is_not_worked_for_and_holds_nobody_up() -> None:
    reader = Reader("reading")
    started, may_end = threading.Event(), threading.Event()
    worked: list[str] = []

    def first() -> str:
        started.set()
        may_end.wait(10)
        return "first"

    under_way = asyncio.create_task(reader.read(first))
    await asyncio.to_thread(started.wait, 10)
    impatient = asyncio.create_task(reader.read(lambda: worked.append("impatient")))
    patient = asyncio.create_task(reader.read(lambda: worked.append("patient")))
    await asyncio.sleep(0)
    impatient.cancel()
    with pytest.raises(asyncio.CancelledError):
        await impatient
    may_end.set()
    assert await under_way == "first"
    await patient
    assert worked == ["patient"]
    await reader.close()


async def test_the_first_answer_does_not_wait_for_a_long_row_of_others() -> None:
    reader = Reader("reading")
    order: list[str] = []

    async def ask(name: str) -> None:
        await reader.read(lambda: threading.Event().wait(0.01))
        order.append(name)

    done_first = asyncio.create_task(ask("first"))
    others = [asyncio.create_task(ask(str(number))) for number in range(20)]
    await done_first
    assert len(order) < 10
    await asyncio.gather(*others)
    await reader.close()


async def test_answers_arrive_while_there_is_more_to_read() -> None:
    reader = Reader("reading")
    arrived: list[int] = []
    behind: list[int] = []

    def work(number: int) -> None:
        behind.append(number - len(arrived))
        until = perf_counter() + 2 * TOGETHER_SECONDS  # so that nothing comes together with it
        while perf_counter() < until:
            pass

    async def ask(number: int) -> None:
        await reader.read(lambda: work(number))
        arrived.append(number)

    await asyncio.gather(*(ask(number) for number in range(50)))
    assert max(behind) <= 1
    await reader.close()


async def test_what_was_asked_before_the_end_is_answered_and_the_thread_ends() -> None:
    reader = Reader("reading to the end")
    asked = [asyncio.create_task(reader.read(lambda n=n: n)) for n in range(50)]
    await asyncio.sleep(0)
    await reader.close()
    assert await asyncio.gather(*asked) == list(range(50))
    assert not any(thread.name == "reading to the end" for thread in threading.enumerate())
