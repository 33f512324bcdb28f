"""Questions that their process died of, or with: who begins, and who waits for whom."""

from __future__ import annotations

from contextlib import AsyncExitStack
from uuid import uuid4

import pytest

from rag_core.desk.outgoing import OpenQuestion
from rag_core.desk.suspects import Suspects
from tests.builders import a_question
from tests.fakes.offices import QUICK


def died(times: int) -> OpenQuestion:
    return OpenQuestion(question_id=uuid4(), question=a_question("How?"), attempt=times)


ONCE_SUSPECT = QUICK.suspect_after
ONE_MORE = QUICK.suspect_after + 1


def may_begin(suspects: Suspects, *, deaths: int) -> bool:
    return suspects.must_wait(died(deaths)) is None


async def test_who_never_died_waits_for_nobody() -> None:
    suspects = Suspects(QUICK)
    async with suspects.beginning(died(ONE_MORE)):
        assert may_begin(suspects, deaths=ONCE_SUSPECT - 1)
        assert not may_begin(suspects, deaths=ONCE_SUSPECT)


async def test_each_that_comes_through_lets_twice_as_many_go_on_together() -> None:
    suspects = Suspects(QUICK)
    together = 1
    for _ in range(4):
        async with AsyncExitStack() as working:
            for _ in range(together):
                assert may_begin(suspects, deaths=ONCE_SUSPECT)
                await working.enter_async_context(suspects.beginning(died(ONCE_SUSPECT)))
            assert not may_begin(suspects, deaths=ONCE_SUSPECT)
        together = min(together * 2**together, QUICK.parallel)


async def test_who_comes_to_no_end_lets_nobody_follow_sooner() -> None:
    suspects = Suspects(QUICK)
    for _ in range(3):
        with pytest.raises(InterruptedError):
            async with suspects.beginning(died(ONCE_SUSPECT)):
                raise InterruptedError
    async with suspects.beginning(died(ONCE_SUSPECT)):
        assert not may_begin(suspects, deaths=ONCE_SUSPECT)


async def test_who_died_once_more_has_no_other_one_beside_it() -> None:
    suspects = Suspects(QUICK)
    for _ in range(3):
        async with suspects.beginning(died(ONCE_SUSPECT)):
            assert not may_begin(suspects, deaths=ONE_MORE)
    async with suspects.beginning(died(ONE_MORE)):
        assert not may_begin(suspects, deaths=ONCE_SUSPECT)
        assert not may_begin(suspects, deaths=ONE_MORE)
    assert may_begin(suspects, deaths=ONE_MORE)
