"""Every question is answered once, in order, whatever platform and disk do on the way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from rag_core.conversation.key import Platform
from rag_core.desk.bell import Bell
from rag_core.desk.desk import Desk
from rag_core.desk.incoming import IncomingQuestion, Receipt
from rag_core.desk.ladder import RUNGS
from rag_core.desk.limits import UNBOUNDED, Bounds
from rag_core.errors import DeskFull, PlaceRefused, UpstreamRejected, UpstreamUnavailable
from rag_core.storage.engines.database import Database
from rag_core.storage.ledger.ledger import QuestionLedger
from tests.builders import a_key
from tests.fakes.desk import Counts, FullAtFirst
from tests.fakes.offices import QUICK, Office, asked


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database, QuestionLedger(database))


async def test_ten_deliveries_of_one_message_are_one_answer(office: Office) -> None:
    async with office.at_work():
        receipts = await asyncio.gather(*(office.desk.accept(asked("How?")) for _ in range(10)))
        await office.until_done()
        assert (await office.desk.accept(asked("How?"))).repeated
    assert sum(not receipt.repeated for receipt in receipts) == 1
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]
    assert len(office.answers.asked) == 1


async def test_a_thread_is_answered_in_its_own_order(office: Office) -> None:
    for number in (3, 1, 2):
        await office.desk.accept(asked(f"Q{number}?", position=str(number)))
    async with office.at_work():
        await office.until_done()
    assert [text[4:6] for text in office.shown] == ["Q1", "Q1", "Q2", "Q2", "Q3", "Q3"]


async def test_a_post_whose_outcome_is_unknown_is_looked_up_before_it_is_repeated(
    office: Office,
) -> None:
    office.wall.troubles = [UpstreamUnavailable("slack"), UpstreamUnavailable("slack")]
    office.wall.takes_effect = True
    await office.desk.accept(asked("How?"))
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["Re: How? [1] (1/2)", "Re: How? [1] (2/2)"]
    assert office.wall.look_ups == 2
    assert len(office.answers.asked) == 1, "the model is not asked again for a delivery's sake"


async def test_a_platform_that_asks_for_patience_gets_it(office: Office) -> None:
    busy = UpstreamRejected("slack", "busy", retryable=True, retry_after=0.2)
    office.wall.troubles = [busy]
    await office.desk.accept(asked("How?"))
    async with office.at_work():
        async with asyncio.timeout(20):
            while not office.wall.attempts:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.1)
        assert office.wall.attempts == 1
        await office.until_done()
    assert len(office.shown) == 2
    assert not office.wall.look_ups, "what was clearly refused need not be looked for"


async def test_a_refused_answer_is_offered_in_plainer_and_plainer_forms(office: Office) -> None:
    office.wall.troubles = [UpstreamRejected("slack", "invalid_blocks")] * 3
    await office.desk.accept(asked("How?"))
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["file: Re: How? [1]"]
    assert office.counts.delivered_posted == [True]
    assert len(office.answers.asked) == 1


async def test_an_answer_that_is_refused_in_every_form_leaves_an_apology_with_its_id(
    office: Office,
) -> None:
    office.wall.troubles = [UpstreamRejected("slack", "invalid_blocks")] * 4
    receipt = await office.desk.accept(asked("How?"))
    async with office.at_work():
        await office.until_done()
    response = await office.ledger.response_to(receipt.question_id)
    assert response is not None
    assert str(response.answer_id) in office.shown[0]


async def test_what_a_place_refuses_in_every_form_is_given_up_and_counted(office: Office) -> None:
    office.wall.troubles = [UpstreamRejected("slack", "invalid_blocks")] * 50
    await office.desk.accept(asked("How?"))
    async with office.at_work():
        await office.until_done()
    assert office.wall.attempts == len(RUNGS)
    assert office.counts.delivered_posted == [False]


async def test_where_no_form_would_be_taken_none_is_tried_and_none_later(office: Office) -> None:
    office.wall.troubles = [PlaceRefused("slack", "is_archived")] * 50
    await office.desk.accept(asked("How?"))
    async with office.at_work():
        await office.until_done()
        await office.desk.accept(asked("And here?", thread="another"))
        await office.until_done()
    assert office.wall.attempts == 2, "one for each question"
    assert office.counts.delivered_posted == [False, False]
    assert not office.wall.look_ups


async def test_a_platform_that_never_answers_is_left_alone_in_the_end(office: Office) -> None:
    office.wall.troubles = [UpstreamUnavailable("slack")] * 50
    await office.desk.accept(asked("How?"))
    async with office.at_work():
        await office.until_done()
    assert office.wall.attempts == QUICK.delivery_attempts
    assert office.counts.delivered_posted == [False]


async def test_one_platforms_trouble_holds_up_no_other_thread(office: Office) -> None:
    office.wall.troubles = [UpstreamUnavailable("slack")]
    for thread in ("a", "b", "c"):
        await office.desk.accept(asked("How?", thread=thread))
    async with office.at_work():
        await office.until_done()
    assert len(office.shown) == 6


async def test_an_answer_waits_for_space_and_the_model_is_not_asked_again(
    database: Database,
) -> None:
    office = Office(database, FullAtFirst(database))
    await office.desk.accept(asked("How?"))
    async with office.at_work():
        await office.until_done()
    assert len(office.shown) == 2
    assert len(office.answers.asked) == 1


async def test_what_is_in_work_is_finished_before_the_worker_ends(office: Office) -> None:
    await office.desk.accept(asked("How?"))
    async with office.at_work():
        async with asyncio.timeout(20):
            while not office.answers.asked:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
    assert len(office.shown) == 2
    assert await office.ledger.waiting() == 0


async def test_a_question_that_ends_its_worker_again_and_again_gets_an_apology(
    office: Office,
) -> None:
    await office.desk.accept(asked("How?"))
    for _ in range(QUICK.answer_attempts):
        claim = await office.ledger.claim(worker="dies", lease=timedelta(seconds=60))
        assert claim is not None
        await office.ledger.begin_answer(claim.question_id)
        await office.ledger.release(worker="dies")
    async with office.at_work():
        await office.until_done()
    assert office.shown == ["Sorry. (1/2)", "Sorry. (2/2)"]
    assert not office.answers.asked


async def test_a_question_that_died_before_is_tried_alone_first(office: Office) -> None:
    office.answers.thinks.clear()
    for thread in ("a", "b", "c"):
        await office.desk.accept(asked("How?", thread=thread))
        claim = await office.ledger.claim(worker="dies", lease=timedelta(seconds=60))
        assert claim is not None
        for _ in range(QUICK.suspect_after):
            await office.ledger.begin_answer(claim.question_id)
    await office.ledger.release(worker="dies")
    async with office.at_work(replace(QUICK, suspect_pause_seconds=0.02)):
        async with asyncio.timeout(20):
            while not office.answers.asked:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        await asyncio.sleep(0.1)
        assert len(office.answers.asked) == 1
        office.answers.thinks.set()
        await office.until_done()
    assert len(office.shown) == 6
    assert not office.answers.given_up


class SlowLedger(QuestionLedger):
    """A ledger that writes nothing before it is let."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.may_write = asyncio.Event()

    async def accept(self, question: IncomingQuestion, *, bounds: Bounds = UNBOUNDED) -> Receipt:
        await self.may_write.wait()
        return await super().accept(question, bounds=bounds)


async def test_a_storm_of_deliveries_is_turned_away_before_it_fills_the_memory(
    database: Database,
) -> None:
    ledger = SlowLedger(database)
    desk = Desk(ledger=ledger, bell=Bell(), observer=Counts(), max_entering=3)
    entering = [asyncio.create_task(desk.accept(asked(f"Q{n}?", thread=f"{n}"))) for n in range(3)]
    await asyncio.sleep(0)

    with pytest.raises(DeskFull):
        await desk.accept(asked("One too many?", thread="3"))

    elsewhere = replace(asked("And here?"), key=a_key("4", platform=Platform.SLACK))
    entering.append(asyncio.create_task(desk.accept(elsewhere)))
    await asyncio.sleep(0)
    ledger.may_write.set()
    assert not any(receipt.repeated for receipt in await asyncio.gather(*entering))
    assert not (await desk.accept(asked("One too many?", thread="3"))).repeated
