"""What is admitted, who is told that it is not, and whose turn it is: in the database."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.desk.incoming import IncomingQuestion, Receipt, Refusal
from rag_core.desk.limits import Bounds
from rag_core.errors import DeskFull
from rag_core.storage.engines.database import Database
from tests.builders import a_key, a_question, a_response
from tests.contract.desk_work import LEASE, DeskWork


@pytest.fixture
def desk(database: Database) -> DeskWork:
    return DeskWork(database)


def from_asker(
    asker: str = "asker-1", *, thread: str = "t", tenant: str = "guild-1", channel: str = "c"
) -> IncomingQuestion:
    key = ConversationKey(
        platform=Platform.DISCORD, tenant=TenantId(tenant), channel_id=channel, thread_id=thread
    )
    return a_question(key=key, asker_id=asker)


async def accept(desk: DeskWork, question: IncomingQuestion, bounds: Bounds) -> Receipt:
    return await desk.ledger.accept(question, bounds=bounds)


async def test_a_person_has_so_many_questions_an_hour_and_is_told_once(desk: DeskWork) -> None:
    bounds = Bounds(user_hour=2)
    refusals = [(await accept(desk, from_asker(thread=str(n)), bounds)).refusal for n in range(5)]
    assert refusals == [None, None, Refusal.USER, Refusal.USER, Refusal.USER]
    assert await desk.ledger.waiting() == 3, "two questions and one notice"
    assert (await accept(desk, from_asker("asker-2"), bounds)).refusal is None


async def test_who_met_a_bound_learns_until_when_and_from_whom(desk: DeskWork) -> None:
    bounds = Bounds(user_hour=2, channel_day=3)
    before = datetime.now(UTC)
    receipts = [await accept(desk, from_asker(thread=str(n)), bounds) for n in range(4)]
    between = datetime.now(UTC)
    first, again = receipts[2:]
    assert first.notice_follows, "the desk delivers the first notice as an answer"
    assert first.must_be_told is None
    assert not again.notice_follows
    assert again.must_be_told is Refusal.USER
    for receipt in (first, again):
        assert receipt.retry_at is not None
        assert before + timedelta(hours=1) <= receipt.retry_at <= between + timedelta(hours=1)
    heard_again = await accept(desk, from_asker("asker-2", thread="x"), bounds)
    assert heard_again.refusal is None
    full = await accept(desk, from_asker("asker-3", thread="y"), bounds)
    assert full.refusal is Refusal.CHANNEL
    assert full.retry_at is not None
    assert full.retry_at - before > timedelta(hours=23)


async def test_a_notice_that_is_delivered_knows_until_when(desk: DeskWork) -> None:
    bounds = Bounds(user_hour=1)
    for number in range(2):
        receipt = await accept(desk, from_asker(thread=str(number)), bounds)
    claims = [await desk.claim() for _ in range(2)]
    [declined] = [claim for claim in claims if claim.refusal is not None]
    assert declined.question.retry_at == receipt.retry_at


async def test_to_ask_again_counts_like_a_question_of_whoever_does(desk: DeskWork) -> None:
    bounds = Bounds(user_hour=2)
    response = a_response()

    async def answered_again(asker: str) -> Refusal | None:
        nonlocal response
        receipt = await desk.ledger.ask_again(response.answer_id, asker_id=asker, bounds=bounds)
        assert receipt is not None
        if receipt.refusal is None:
            claim, response = await desk.claim(), a_response(answer_id=uuid4())
            await desk.settle(claim.question_id, response=response, revision=claim.revision)
            await desk.ledger.close(claim.question_id, delivered=True, revision=claim.revision)
        return receipt.refusal

    question = await accept(desk, from_asker("asker-1"), bounds)
    await desk.claim()
    await desk.settle(question.question_id, response=response)
    await desk.ledger.close(question.question_id, delivered=True)
    refusals = [await answered_again("asker-2") for _ in range(4)]
    assert refusals == [None, None, Refusal.USER, Refusal.USER]
    assert (await accept(desk, from_asker("asker-2"), bounds)).refusal is Refusal.USER
    assert await answered_again("asker-3") is None


async def test_a_channel_has_so_many_questions_a_day(desk: DeskWork) -> None:
    bounds = Bounds(channel_day=2)
    for number in range(2):
        assert (await accept(desk, from_asker(str(number)), bounds)).refusal is None
    assert (await accept(desk, from_asker("new"), bounds)).refusal is Refusal.CHANNEL
    assert (await accept(desk, from_asker("new", channel="d"), bounds)).refusal is None


async def test_a_tenant_has_so_many_tokens_a_day(desk: DeskWork) -> None:
    bounds = Bounds(tenant_tokens_day=100)
    receipt = await accept(desk, from_asker(), bounds)
    await desk.claim()
    await desk.settle(receipt.question_id, response=a_response(tokens_used=100))
    assert (await accept(desk, from_asker(), bounds)).refusal is Refusal.TENANT
    assert (await accept(desk, from_asker(tenant="guild-2"), bounds)).refusal is None


async def test_a_full_queue_declines_visibly_and_an_overfull_one_accepts_nothing(
    desk: DeskWork,
) -> None:
    bounds = Bounds(waiting=2, waiting_notices=1)
    for number in range(2):
        assert (await accept(desk, from_asker(str(number)), bounds)).refusal is None
    assert (await accept(desk, from_asker("late"), bounds)).refusal is Refusal.QUEUE
    later = from_asker("later")
    with pytest.raises(DeskFull):
        await accept(desk, later, bounds)
    for _ in range(3):
        claim = await desk.claim()
        await desk.ledger.close(claim.question_id, delivered=True)
    assert not (await accept(desk, later, bounds)).repeated, "it never counted as seen"


async def test_a_declined_message_that_left_no_trace_is_admitted_when_there_is_room(
    desk: DeskWork,
) -> None:
    bounds = Bounds(waiting=1)
    await accept(desk, from_asker("first"), bounds)
    await accept(desk, from_asker("told"), bounds)
    untold = from_asker("told")
    assert (await accept(desk, untold, bounds)).refusal is Refusal.QUEUE
    for _ in range(2):
        await desk.ledger.close((await desk.claim()).question_id, delivered=True)
    receipt = await accept(desk, untold, bounds)
    assert (receipt.refusal, receipt.repeated) == (None, False)


async def test_the_notice_is_claimed_like_a_question_and_known_as_one(desk: DeskWork) -> None:
    bounds = Bounds(user_hour=1)
    await accept(desk, from_asker(thread="a"), bounds)
    declined = from_asker(thread="b")
    await accept(desk, declined, bounds)
    assert (await accept(desk, declined, bounds)).repeated
    claims = [await desk.claim(f"w{n}") for n in range(2)]
    assert [claim.refusal for claim in claims] == [None, Refusal.USER]


async def test_many_at_once_do_not_pass_a_bound(desk: DeskWork, engine: str) -> None:
    bounds = Bounds(user_hour=5)
    receipts = await asyncio.gather(
        *(accept(desk, from_asker(thread=str(n)), bounds) for n in range(20))
    )
    admitted = sum(receipt.refusal is None for receipt in receipts)
    # On PostgreSQL, transactions that run side by side do not see each other's rows.
    assert admitted == 5 if engine == "sqlite" else 5 <= admitted <= 20


async def test_tenants_take_turns_however_much_one_of_them_asks(desk: DeskWork) -> None:
    for number in range(20):
        await desk.accept(from_asker(thread=f"busy-{number}", tenant="busy"))
    for number in range(3):
        await desk.accept(from_asker(thread=f"calm-{number}", tenant="calm"))
    order = [(await desk.claim()).question.key.tenant for _ in range(6)]
    assert sorted(order) == ["busy"] * 3 + ["calm"] * 3


async def test_askers_of_one_tenant_take_turns(desk: DeskWork) -> None:
    for number in range(20):
        await desk.accept(from_asker("busy", thread=f"b{number}"))
    for number in range(3):
        await desk.accept(from_asker("calm", thread=f"c{number}"))
    order = [(await desk.claim()).question.asker_id for _ in range(6)]
    assert sorted(order) == ["busy"] * 3 + ["calm"] * 3


async def test_who_comes_late_gets_no_more_than_a_fair_share(desk: DeskWork) -> None:
    for number in range(30):
        await desk.accept(from_asker(thread=f"b{number}", tenant="busy"))
    for _ in range(10):
        claim = await desk.claim()
        await desk.ledger.close(claim.question_id, delivered=True)
    for number in range(30):
        await desk.accept(from_asker(thread=f"l{number}", tenant="late"))
    order = [(await desk.claim()).question.key.tenant for _ in range(10)]
    assert sorted(order) == ["busy"] * 5 + ["late"] * 5


async def test_a_thread_with_many_questions_queues_up_anew_for_each(desk: DeskWork) -> None:
    for number in range(10):
        await desk.accept(replace(from_asker("long"), position=f"{number:03d}"))
    await desk.accept(from_asker("short", thread="other", tenant="guild-1"))
    seen = []
    for _ in range(2):
        claim = await desk.claim()
        seen.append(claim.question.asker_id)
        await desk.ledger.close(claim.question_id, delivered=True)
    assert seen == ["long", "short"]


async def test_who_waits_long_is_told_once(desk: DeskWork) -> None:
    question = await desk.accept(from_asker())
    later = datetime.now(UTC) + timedelta(seconds=1)
    assert await desk.ledger.overdue(before=later - timedelta(hours=1), limit=5) == []
    (waiting,) = await desk.ledger.overdue(before=later, limit=5)
    part = await desk.ledger.tell(waiting, '{"text": "Patience."}')
    assert part is not None
    assert await desk.ledger.tell(waiting, "again") is None
    assert await desk.ledger.overdue(before=later, limit=5) == []
    await desk.ledger.posted(part, external_id="notice-1")
    await desk.claim()
    parts = await desk.settle(question)
    assert [(each.external_id, each.state.value) for each in parts] == [
        (None, "pending"),
        ("notice-1", "removing"),
    ]


async def test_what_is_worked_on_is_not_overdue(desk: DeskWork) -> None:
    await desk.accept(from_asker())
    later = datetime.now(UTC) + timedelta(seconds=1)
    (waiting,) = await desk.ledger.overdue(before=later, limit=5)
    await desk.ledger.begin_answer((await desk.claim()).question_id)
    assert await desk.ledger.overdue(before=later, limit=5) == []
    assert await desk.ledger.tell(waiting, "late") is None


async def test_a_further_question_of_a_thread_waits_a_moment_for_an_earlier_one(
    desk: DeskWork,
) -> None:
    bounds = Bounds(grace_seconds=0.3)
    await accept(desk, replace(from_asker(), position="1"), bounds)
    first = await desk.claim()
    await desk.ledger.close(first.question_id, delivered=True)
    await accept(desk, replace(from_asker(), position="3"), bounds)
    assert await desk.ledger.claim(worker="w", lease=LEASE) is None
    await accept(desk, replace(from_asker(), position="2"), bounds)
    async with asyncio.timeout(20):
        while (claim := await desk.ledger.claim(worker="w", lease=LEASE)) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert claim.question.position == "2"


async def test_the_backlog_says_since_when_the_oldest_waits(desk: DeskWork) -> None:
    assert (await desk.ledger.backlog()).oldest is None
    before = datetime.now(UTC)
    await desk.accept(a_question(key=a_key("a")))
    await desk.accept(a_question(key=a_key("b")))
    backlog = await desk.ledger.backlog()
    assert backlog.waiting == 2
    assert backlog.oldest is not None
    assert before <= backlog.oldest <= datetime.now(UTC)
    assert await desk.ledger.claim(worker="w", lease=LEASE)


async def test_a_moment_by_a_clock_that_was_set_back_since_holds_no_thread_up(
    desk: DeskWork,
) -> None:
    await accept(desk, replace(from_asker(), position="1"), Bounds())
    first = await desk.claim()
    await desk.ledger.close(first.question_id, delivered=True)
    await accept(desk, replace(from_asker(), position="2"), Bounds(grace_seconds=3_600))
    assert (await desk.claim()).question.position == "2"
