"""What was said while the bot was away is read and answered, once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.slack.hearing.marks import MarkKeeper
from tests.fakes.markers import MemoryMarkers
from tests.fakes.slack_desk import FakeDesk, desk_that_answers
from tests.fakes.slack_house import settled, slack_at_work, until
from tests.peers.slack import ANN, BEN, DIRECT, GENERAL, MENTION, TEAM, Fault, SlackPeer
from tests.peers.slack_world import BOT_USER

BOTH_WAYS = pytest.mark.parametrize("over", ["socket", "http"])


def meanwhile(peer: SlackPeer, channel: str, user: str, text: str, thread: str = "") -> str:
    """Somebody writes and nobody tells the app."""
    members = peer.world.channels[channel].members
    members.discard(BOT_USER)
    try:
        return peer.say(channel, user, text, thread_ts=thread or None)
    finally:
        members.add(BOT_USER)


def asked(desk: FakeDesk) -> list[str]:
    return [question.question.message for question in desk.questions.values()]


@BOTH_WAYS
async def test_what_was_missed_is_answered_once_wherever_the_bot_was_known(over: str) -> None:
    desk, markers = desk_that_answers(), MemoryMarkers()
    async with SlackPeer() as peer:
        async with slack_at_work(peer, desk, markers=markers, over=over):
            thread = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
            peer.say(DIRECT, ANN, "and how many here?")
            await settled(peer, desk)
        meanwhile(peer, GENERAL, ANN, f"{MENTION} how many a month?")
        meanwhile(peer, GENERAL, BEN, "lunch?")
        meanwhile(peer, GENERAL, ANN, "and in a week?", thread)
        meanwhile(peer, DIRECT, ANN, "are you there?")
        head = meanwhile(peer, GENERAL, BEN, "how do I log in?")
        meanwhile(peer, GENERAL, ANN, f"{MENTION} do you know?", head)
        for _ in range(2):
            async with slack_at_work(peer, desk, markers=markers, over=over):
                await until(lambda: len(desk.questions) == 6)
                await settled(peer, desk)
                await asyncio.sleep(0.2)
        assert sorted(asked(desk)) == [
            "and how many here?",
            "and in a week?",
            "are you there?",
            "do you know?",
            "how many a day?",
            "how many a month?",
        ]
        assert len(list(peer.world.everything_of_the_bot())) == 6


async def test_a_gap_in_the_connection_is_read_too() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.say(DIRECT, ANN, "how many a day?")
        await settled(peer, desk)
        meanwhile(peer, DIRECT, ANN, "are you there?")
        await peer.sockets.drop()
        await until(lambda: peer.sockets.sessions == 2)
        await until(lambda: platform.is_ready)
        await until(lambda: "are you there?" in asked(desk))
        await settled(peer, desk)


async def test_no_mark_goes_past_a_message_that_could_not_be_written_down() -> None:
    desk, markers = desk_that_answers(), MemoryMarkers()
    async with SlackPeer(ack_seconds=0.2, pauses=()) as peer:
        async with slack_at_work(peer, desk, markers=markers):
            peer.say(DIRECT, ANN, "how many a day?")
            await settled(peer, desk)
            desk.failing = 1
            peer.say(DIRECT, ANN, "is this lost?")
            await peer.heard()
            peer.say(DIRECT, ANN, "how many a week?")
            await settled(peer, desk)
            assert "is this lost?" not in asked(desk)
        async with slack_at_work(peer, desk, markers=markers):
            await until(lambda: "is this lost?" in asked(desk))
            await settled(peer, desk)
        assert len(list(peer.world.everything_of_the_bot())) == 3


async def test_rate_limits_and_places_that_are_gone_do_not_end_the_reading() -> None:
    desk, markers = desk_that_answers(), MemoryMarkers()
    async with SlackPeer() as peer:
        async with slack_at_work(peer, desk, markers=markers):
            peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
            peer.say(DIRECT, ANN, "how many a day?")
            await settled(peer, desk)
        meanwhile(peer, DIRECT, ANN, "are you there?")
        peer.foresees("not_in_channel", "ratelimited")
        peer.world.channels[GENERAL].members.discard(BOT_USER)
        peer.fails("conversations.history", Fault.RATE_LIMITED)
        async with slack_at_work(peer, desk, markers=markers):
            await until(lambda: "are you there?" in asked(desk))
            await settled(peer, desk)


async def test_what_slack_could_not_show_is_read_once_it_can() -> None:
    desk, markers = desk_that_answers(), MemoryMarkers()
    async with SlackPeer() as peer:
        async with slack_at_work(peer, desk, markers=markers):
            peer.say(DIRECT, ANN, "how many a day?")
            await settled(peer, desk)
        meanwhile(peer, DIRECT, ANN, "are you there?")
        peer.fails("conversations.history", *[Fault.SERVER_ERROR] * 3)
        async with slack_at_work(peer, desk, markers=markers, read_again_after=(0.05,)):
            peer.say(DIRECT, ANN, "how many a week?")
            await until(lambda: "are you there?" in asked(desk))
            await settled(peer, desk)
        read = len(peer.calls("conversations.history"))
        async with slack_at_work(peer, desk, markers=markers):
            await until(lambda: len(peer.calls("conversations.history")) > read)
            await settled(peer, desk)
        assert sorted(asked(desk)) == ["are you there?", "how many a day?", "how many a week?"]


async def test_what_is_older_than_the_bound_is_left_alone() -> None:
    desk, markers = desk_that_answers(), MemoryMarkers()
    async with SlackPeer() as peer:
        async with slack_at_work(peer, desk, markers=markers):
            peer.say(DIRECT, ANN, "how many a day?")
            await settled(peer, desk)
        meanwhile(peer, DIRECT, ANN, "are you there?")
        async with slack_at_work(peer, desk, markers=markers, longest_away=1.0):
            await until(lambda: bool(peer.calls("conversations.history")))
            await settled(peer, desk)
        assert asked(desk) == ["how many a day?"]


async def test_only_the_places_that_were_heard_last_are_kept() -> None:
    keeper, markers = MarkKeeper(store := MemoryMarkers()), MarkKeeper(store)
    await keeper.open_gaps(TEAM)
    for number in range(700):
        ts = f"{1_790_000_000 + number}.000001"
        keeper.heard({"event": {"type": "message", "channel": f"C{number}", "ts": ts}})
    keeper.heard({"event": {"type": "message", "channel": "C0", "ts": "not a time"}})
    await keeper.save()
    await markers.open_gaps(TEAM)
    kept = markers.gaps(threads=False)
    assert len(kept) == 500
    assert "C699" in kept
    assert "C0" not in kept


def away(peer: SlackPeer, channel: str) -> Iterator[None]:
    """Nobody tells the app of what happens in a channel."""
    members = peer.world.channels[channel].members
    members.discard(BOT_USER)
    yield
    members.add(BOT_USER)


unheard = contextmanager(away)


@BOTH_WAYS
async def test_edits_and_deletions_that_nobody_heard_are_found(over: str) -> None:
    desk, markers = desk_that_answers(), MemoryMarkers()
    parts = {"lately": desk}
    async with SlackPeer() as peer:
        async with slack_at_work(peer, desk, markers=markers, parts=parts, over=over):
            kept = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
            edited = peer.say(GENERAL, ANN, f"{MENTION} how many a week?")
            gone = peer.say(GENERAL, ANN, f"{MENTION} how many a month?")
            direct = peer.say(DIRECT, ANN, "how many a year?")
            await settled(peer, desk)
            reply = peer.say(GENERAL, ANN, "and in a leap year?", kept)
            taken_back = peer.say(GENERAL, ANN, "and in May?", kept)
            await settled(peer, desk)
        with unheard(peer, GENERAL), unheard(peer, DIRECT):
            peer.edit(GENERAL, edited, f"{MENTION} how many in two weeks?")
            peer.edit(GENERAL, reply, "and in 2028?")
            peer.delete(GENERAL, gone)  # it has an answer below it: a grave
            peer.delete(GENERAL, taken_back)
            peer.edit(DIRECT, direct, "never mind")
        async with slack_at_work(peer, desk, markers=markers, parts=parts, over=over):
            await until(lambda: len(desk.withdrawn) == 3)
            await until(lambda: len(desk.revised) == 2)
            await asyncio.sleep(0.2)
        withdrawn = {identity.message_id for identity in desk.withdrawn}
        assert withdrawn == {gone, taken_back, direct}
        assert {question.question.message for question in desk.revised} == {
            "how many in two weeks?",
            "and in 2028?",
        }
        # What was found once is not found again.
        async with slack_at_work(peer, desk, markers=markers, parts=parts, over=over):
            await asyncio.sleep(0.3)
        assert (len(desk.withdrawn), len(desk.revised)) == (3, 2)


async def test_a_place_that_is_not_read_whole_proves_no_deletion() -> None:
    desk, markers = desk_that_answers(), MemoryMarkers()
    parts = {"lately": desk}
    async with SlackPeer() as peer:
        peer.foresees("not_in_channel", "missing_scope")
        async with slack_at_work(peer, desk, markers=markers, parts=parts):
            peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
            peer.say(DIRECT, ANN, "how many a day?")
            await settled(peer, desk)
        peer.world.channels[GENERAL].members.discard(BOT_USER)
        peer.api.scopes.discard("im:history")
        async with slack_at_work(peer, desk, markers=markers, parts=parts):
            await until(lambda: len(peer.calls("conversations.history")) >= 4)
            await asyncio.sleep(0.2)
        assert not desk.withdrawn


async def test_reading_what_was_missed_leaves_room_for_answers_to_be_looked_up() -> None:
    desk, markers = desk_that_answers(), MemoryMarkers()
    async with SlackPeer() as peer:
        async with slack_at_work(peer, desk, markers=markers):
            for number in range(40):
                peer.say(GENERAL, ANN, f"{MENTION} how many a day, number {number}?")
            await settled(peer, desk, at_most=60)
        before = len(peer.calls("conversations.replies"))
        async with slack_at_work(peer, desk, markers=markers) as platform:
            await until(lambda: len(peer.calls("conversations.replies")) - before >= 35)
            await asyncio.sleep(0.2)
            assert len(peer.calls("conversations.replies")) - before == 35
            assert platform.teams.of(TEAM).budget.pause("conversations.replies") == 0
