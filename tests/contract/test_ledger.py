"""The ledger: a question is accepted once, worked on by one, settled once, delivered in order."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from rag_core.agent.answer import Outcome
from rag_core.conversation.key import Platform
from rag_core.desk.outgoing import PartState
from rag_core.desk.progress import QuestionState
from rag_core.errors import ClaimLost, InvalidQuestion, StorageError, Superseded
from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.engines.statement import Statement
from rag_core.storage.feedback import Feedback
from tests.builders import a_citation, a_key, a_question, a_response, a_turn
from tests.contract.desk_work import EXPIRED, LEASE, DeskWork


@pytest.fixture
def desk(database: Database) -> DeskWork:
    return DeskWork(database)


async def test_a_repeated_message_is_one_question(desk: DeskWork) -> None:
    question = a_question(message_id="m-1")
    first = await desk.ledger.accept(question)
    again = await desk.ledger.accept(replace(question, heard_at=question.heard_at))
    assert (first.repeated, again.repeated) == (False, True)
    assert again.question_id == first.question_id
    assert await desk.ledger.waiting() == 1


async def test_one_message_delivered_by_many_at_once_is_one_question(desk: DeskWork) -> None:
    question = a_question(message_id="m-1")
    receipts = await asyncio.gather(*(desk.ledger.accept(question) for _ in range(30)))
    assert len({receipt.question_id for receipt in receipts}) == 1
    assert Counter(receipt.repeated for receipt in receipts) == {False: 1, True: 29}


async def test_the_same_message_number_in_another_channel_is_another_question(
    desk: DeskWork,
) -> None:
    question = a_question(message_id="m-1")
    await desk.ledger.accept(question)
    elsewhere = replace(question, key=replace(a_key(), channel_id="channel-2"))
    assert not (await desk.ledger.accept(elsewhere)).repeated


async def test_a_repeat_of_an_ended_question_wakes_nobody(desk: DeskWork) -> None:
    question = a_question()
    question_id = await desk.accept(question)
    await desk.claim()
    await desk.settle(question_id)
    await desk.ledger.close(question_id, delivered=True)
    assert (await desk.ledger.accept(question)).repeated
    assert await desk.ledger.claim(worker="w", lease=LEASE) is None


async def test_what_one_platform_asks_may_be_left_for_later(desk: DeskWork) -> None:
    first = await desk.accept(a_question("First?", key=a_key("t", Platform.SLACK)))
    other = await desk.accept(a_question("Other?", key=a_key("u", Platform.DISCORD)))

    async def claimed(*but_not: Platform) -> UUID | None:
        claim = await desk.ledger.claim(worker="w", lease=LEASE, but_not=but_not)
        return claim.question_id if claim else None

    assert await claimed(Platform.SLACK, Platform.DISCORD) is None
    assert await claimed(Platform.SLACK) == other
    assert await claimed(Platform.SLACK) is None
    assert await claimed(Platform.DISCORD) == first


async def test_a_thread_is_worked_on_by_one_and_in_its_own_order(desk: DeskWork) -> None:
    late = await desk.accept(a_question("Second?", position="000002"))
    early = await desk.accept(a_question("First?", position="000001"))
    claimed = await desk.claim()
    assert (claimed.question_id, claimed.attempt, claimed.parts) == (early, 0, ())
    assert await desk.ledger.claim(worker="other", lease=LEASE) is None
    await desk.settle(early)
    await desk.ledger.close(early, delivered=True)
    assert (await desk.claim("other")).question_id == late


async def test_positions_are_ordered_as_text_whatever_the_language(desk: DeskWork) -> None:
    expected = ["1700000000.000100", "1700000000.000101", "B", "a", "ä"]
    for position in reversed(expected):
        await desk.accept(a_question(position=position))
    seen = []
    for _ in expected:
        claimed = await desk.claim()
        seen.append(claimed.question.position)
        await desk.ledger.close(claimed.question_id, delivered=False)
    assert seen == expected


async def test_the_thread_that_has_waited_longest_comes_first(desk: DeskWork) -> None:
    threads = ["a", "b", "c"]
    for thread in threads:
        await desk.accept(a_question(key=a_key(thread)))
    claimed = [await desk.claim(f"worker-{number}") for number in range(3)]
    assert [c.question.key.thread_id for c in claimed] == threads


async def test_many_workers_never_hold_one_thread_twice(desk: DeskWork) -> None:
    for number in range(30):
        await desk.accept(a_question(key=a_key(f"thread-{number % 10}"), position=str(number)))
    claims = await asyncio.gather(
        *(desk.ledger.claim(worker=f"worker-{n}", lease=LEASE) for n in range(25))
    )
    threads = [claim.question.key.thread_id for claim in claims if claim]
    assert len(threads) == len(set(threads))
    while more := await desk.ledger.claim(worker="last", lease=LEASE):
        threads.append(more.question.key.thread_id)
    assert sorted(threads) == sorted(f"thread-{number}" for number in range(10))


async def test_a_claim_that_ran_out_is_taken_over_and_the_first_worker_can_no_longer_settle(
    desk: DeskWork,
) -> None:
    question_id = await desk.accept()
    await desk.claim("slow", lease=EXPIRED)
    assert await desk.ledger.begin_answer(question_id) == 1
    taken_over = await desk.claim("quick")
    assert (taken_over.question_id, taken_over.attempt) == (question_id, 1)
    assert not await desk.ledger.renew(question_id, worker="slow", lease=LEASE)
    with pytest.raises(ClaimLost, match="claim"):
        await desk.settle(question_id, worker="slow")
    assert await desk.ledger.response_to(question_id) is None
    assert await desk.settle(question_id, worker="quick")


async def test_a_renewed_claim_holds_and_one_that_nobody_took_can_still_be_settled(
    desk: DeskWork,
) -> None:
    question_id = await desk.accept()
    await desk.claim(lease=EXPIRED)
    assert await desk.ledger.renew(question_id, worker="worker-1", lease=LEASE)
    assert await desk.ledger.claim(worker="other", lease=LEASE) is None
    await desk.ledger.renew(question_id, worker="worker-1", lease=EXPIRED)
    assert await desk.settle(question_id)


async def test_a_worker_that_leaves_gives_back_what_it_holds_and_only_that(desk: DeskWork) -> None:
    for thread in ("a", "b", "c"):
        await desk.accept(a_question(key=a_key(thread)))
    await desk.claim("leaving")
    await desk.claim("staying")
    await desk.claim("leaving")
    assert await desk.ledger.release(worker="leaving") == 2
    assert await desk.ledger.release(worker="leaving") == 0
    freed = {(await desk.claim("other")).question.key.thread_id for _ in range(2)}
    assert freed == {"a", "c"}
    assert await desk.ledger.claim(worker="other", lease=LEASE) is None


async def test_what_was_settled_is_handed_out_again_and_not_asked_again(desk: DeskWork) -> None:
    question_id = await desk.accept(a_question(position="000002"))
    await desk.claim(lease=EXPIRED)
    parts = await desk.settle(question_id, parts=('{"n": 1}', '{"n": 2}'))
    assert [(part.number, part.state) for part in parts] == [
        (0, PartState.PENDING),
        (1, PartState.PENDING),
    ]
    await desk.ledger.begin_post(parts[0])
    await desk.ledger.posted(parts[0], external_id="ts-1")
    await desk.ledger.begin_post(parts[1])
    await desk.accept(a_question("Heard late?", position="000001"))
    resumed = await desk.claim("other")
    assert resumed.question_id == question_id, "what is half posted comes first"
    assert [part.state for part in resumed.parts] == [PartState.POSTED, PartState.POSTING]
    assert [part.external_id for part in resumed.parts] == ["ts-1", None]
    assert [part.payload for part in resumed.parts] == ['{"n": 1}', '{"n": 2}']


async def test_a_second_answer_changes_nothing(desk: DeskWork) -> None:
    session = (await desk.open()).session_id
    question_id = await desk.accept()
    await desk.claim()
    response = a_response()
    first = await desk.settle(question_id, response=response, turn=a_turn(session))
    again = await desk.settle(question_id, response=a_response("Other."), turn=a_turn(session))
    assert again == first
    assert await desk.ledger.response_to(question_id) == response
    assert (await desk.open()).turn_count == 1


async def test_an_answer_comes_back_exactly_with_its_citations_and_its_thread(
    desk: DeskWork,
) -> None:
    question_id = await desk.accept()
    await desk.claim()
    citations = tuple(a_citation(n, chunk_id=f"chunk-{n}", quote="Zehn €") for n in range(1, 12))
    response = a_response("Ten a day [1].", citations=citations, total_time_ms=0.1 + 0.2)
    await desk.settle(question_id, response=response)
    assert await desk.ledger.response_to(question_id) == response
    assert await desk.ledger.answer(response.answer_id) == (response, a_key())
    assert await desk.ledger.answer(uuid4()) is None


@pytest.mark.parametrize("outcome", list(Outcome))
async def test_a_question_ends_in_the_state_of_its_answer(desk: DeskWork, outcome: Outcome) -> None:
    question_id = await desk.accept()
    await desk.claim()
    assert await desk.ledger.state_of(question_id) is QuestionState.PENDING
    await desk.ledger.advance(question_id, QuestionState.GENERATING)
    assert await desk.ledger.state_of(question_id) is QuestionState.GENERATING
    await desk.settle(question_id, response=a_response(outcome=outcome, citations=()))
    await desk.ledger.advance(question_id, QuestionState.RETRIEVING)  # late news changes nothing
    assert await desk.ledger.state_of(question_id) is QuestionState(outcome.value.upper())


async def test_a_settlement_that_fails_leaves_nothing_behind(
    desk: DeskWork, database: Database
) -> None:
    state = await desk.open()
    question_id = await desk.accept()
    await desk.claim()
    with pytest.raises(StorageError, match="session"):
        await desk.settle(question_id, turn=a_turn(uuid4()))
    taken = a_response()
    await desk.settle(question_id, response=taken)
    other = await desk.accept(a_question(key=a_key("other")))
    await desk.claim()
    session = (await desk.open(a_key("other"))).session_id
    with pytest.raises(StorageError):  # the answer's id is taken: all of it is undone
        await desk.settle(other, response=taken, turn=a_turn(session))
    assert (await desk.open()).turn_count == state.turn_count
    assert (await desk.open(a_key("other"))).messages[1:] == ()
    assert len(await rows(database, "SELECT * FROM turns")) == 0
    assert await desk.ledger.response_to(other) is None
    assert await desk.settle(other, turn=a_turn(session))


async def test_a_question_of_a_deleted_thread_is_neither_settled_nor_posted(
    desk: DeskWork,
) -> None:
    question_id = await desk.accept()
    await desk.claim()
    parts = await desk.settle(question_id)
    await desk.conversations.delete(a_key())
    with pytest.raises(Superseded, match="deleted"):
        await desk.ledger.begin_post(parts[0])
    with pytest.raises(ClaimLost, match="claim"):
        await desk.settle(question_id)
    await desk.ledger.close(question_id, delivered=False)
    assert await desk.ledger.waiting() == 0
    assert await desk.ledger.claim(worker="w", lease=LEASE) is None


async def test_closing_twice_frees_no_other_claim(desk: DeskWork) -> None:
    first = await desk.accept(a_question(position="1"))
    await desk.accept(a_question(position="2"))
    await desk.claim()
    await desk.ledger.close(first, delivered=True)
    await desk.claim("other")
    await desk.ledger.close(first, delivered=True)
    assert await desk.ledger.claim(worker="third", lease=LEASE) is None
    assert await desk.ledger.waiting() == 1


async def test_questions_accepted_while_others_end_are_all_found(desk: DeskWork) -> None:
    """No question is forgotten between the end of one and the start of the next."""

    async def ask(number: int) -> None:
        await desk.accept(a_question(key=a_key(f"t{number % 3}"), position=f"{number:04d}"))

    async def work(worker: str) -> int:
        ended = 0
        while ended < 20 and await desk.ledger.waiting():
            claim = await desk.ledger.claim(worker=worker, lease=LEASE)
            if claim is None:
                await asyncio.sleep(0.001)
                continue
            await desk.ledger.close(claim.question_id, delivered=True)
            ended += 1
        return ended

    await asyncio.gather(*(ask(number) for number in range(60)), *(work(f"w{n}") for n in range(6)))
    while claim := await desk.ledger.claim(worker="last", lease=LEASE):
        await desk.ledger.close(claim.question_id, delivered=True)
    assert await desk.ledger.waiting() == 0


async def test_open_questions_survive_closing(url: str) -> None:
    question = a_question("How many?", address={"channel": "C1"}, private=True, locale="de")
    async with open_database(url) as database:
        await DeskWork(database).accept(question)
        await DeskWork(database).claim(lease=EXPIRED)
    async with open_database(url) as database:
        claimed = await DeskWork(database).claim()
    assert (claimed.question, claimed.attempt) == (question, 0)


async def test_the_messages_of_an_answer_are_known_once_they_are_posted(desk: DeskWork) -> None:
    response = a_response()
    for parts in (("1", "2", "3"), ("4",)):
        question_id = await desk.accept()
        await desk.claim()
        answered = response if len(parts) == 3 else a_response()
        settled = await desk.settle(question_id, response=answered, parts=parts)
        for part in reversed(settled[:2]):
            await desk.ledger.begin_post(part)
            await desk.ledger.posted(part, external_id=f"message {part.payload}")
        if len(settled) == 3:
            await desk.ledger.begin_post(settled[2])
        await desk.ledger.close(question_id, delivered=True)
    assert await desk.ledger.posted_parts(response.answer_id) == ["message 1", "message 2"]
    assert await desk.ledger.posted_parts(uuid4()) == []


async def test_a_rating_can_be_changed_and_needs_an_answer(
    desk: DeskWork, database: Database
) -> None:
    response = a_response()
    await desk.exchange(response=response)
    feedback = Feedback(database)
    await feedback.rate(answer_id=response.answer_id, asker_id="a", helpful=False, reason="Old.")
    await feedback.rate(answer_id=response.answer_id, asker_id="a", helpful=True)
    await feedback.rate(answer_id=response.answer_id, asker_id="b", helpful=False)
    found = await rows(database, "SELECT asker_id, helpful, reason FROM feedback ORDER BY asker_id")
    assert [(row[0], bool(row[1]), row[2]) for row in found] == [("a", True, ""), ("b", False, "")]
    with pytest.raises(InvalidQuestion) as refused:
        await feedback.rate(answer_id=uuid4(), asker_id="a", helpful=True)
    assert refused.value.field == "answer_id"


async def test_a_question_that_cannot_be_read_holds_up_no_other_thread(
    desk: DeskWork, database: Database
) -> None:
    await desk.accept(a_question(key=a_key("broken")))
    await database.run(Statement(text("UPDATE questions SET body = '{}' RETURNING id")))
    fine = await desk.accept(a_question(key=a_key("fine")))
    with pytest.raises(StorageError, match="cannot read"):
        await desk.claim()
    assert (await desk.claim()).question_id == fine


async def rows(database: Database, query: str) -> list[list[object]]:
    return [list(row) for row in await database.rows(Statement(text(query)))]  # type: ignore[call-overload]
