"""Answers are shown as they are written; whatever happens, the whole one stands there once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from adapters.slack.answering.drafts import OPENING
from adapters.slack.answering.lost_drafts import MARKER
from adapters.slack.answering.writer import SHOWN_LIMIT, shown_part
from tests.fakes.answers import an_answer
from tests.fakes.markers import MemoryMarkers
from tests.fakes.slack_desk import RESTART, FakeDesk
from tests.fakes.slack_house import settled, slack_at_work, until
from tests.peers.slack import ANN, DIRECT, GENERAL, MENTION, TEAM, Fault, SlackPeer

PIECES = [f"Sentence number {number} of the answer. " for number in range(8)]
WHOLE = "".join(PIECES) + "Ten a day [1]."


class SlowMarkers(MemoryMarkers):
    """A database that takes its time to note where a draft stands."""

    async def set(self, name: str, value: str) -> None:
        if value.startswith("draft"):
            await asyncio.sleep(0.6)
        await super().set(name, value)


def writing(*pieces: str, between: float = 0.04) -> FakeDesk:
    desk = FakeDesk(lambda question: an_answer(WHOLE))
    desk.writes, desk.between = pieces or PIECES, between
    return desk


async def asked(peer: SlackPeer, desk: FakeDesk) -> str:
    ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
    await settled(peer, desk)
    return ts


def methods(peer: SlackPeer, *names: str) -> list[str]:
    return [c.method for c in peer.api.calls if c.method in names and c.error is None]


def the_one_reply(peer: SlackPeer, ts: str, channel: str = GENERAL) -> str:
    [reply] = peer.world.replies(channel, ts)
    assert reply.metadata is not None
    assert not peer.api.streams.is_open(channel, reply.ts)
    return reply.seen


async def killed_while_writing(peer: SlackPeer, markers: MemoryMarkers) -> tuple[FakeDesk, str]:
    """A process that died with half an answer written; the desk has the question, the markers say
    what they said then, and nobody has ended the stream."""
    peer.foresees("streaming_state_conflict", "message_not_in_streaming_state")
    desk = writing(between=0.2)
    async with slack_at_work(peer, desk, markers=markers):
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await until(lambda: bool(methods(peer, "chat.appendStream")))
        markers.values, killed = {}, dict(markers.values)
    markers.values = killed
    [draft] = peer.world.replies(GENERAL, ts)
    peer.api.streams.began[GENERAL, draft.ts] = asyncio.get_running_loop().time()
    return desk, ts


async def handed_on(peer: SlackPeer, before: FakeDesk, later: FakeDesk) -> None:
    for question in before.questions.values():
        await later.accept(question)
    await settled(peer, later)


async def test_an_answer_grows_in_one_message_that_becomes_the_whole() -> None:
    desk = writing()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        ts = await asked(peer, desk)
        assert WHOLE in the_one_reply(peer, ts)
        [start] = peer.calls("chat.startStream")
        assert start.arguments["recipient_user_id"] == ANN
        assert 40 <= len(start.arguments["markdown_text"]) <= 120
        assert len(methods(peer, "chat.appendStream")) >= 2
        assert methods(peer, "chat.stopStream", "chat.update", "chat.postMessage") == [
            "chat.stopStream",
            "chat.update",
        ]
        streamed = start.arguments["markdown_text"] + "".join(
            call.arguments["markdown_text"] for call in peer.calls("chat.appendStream")
        )
        assert "".join(PIECES).startswith(streamed.rstrip())


async def test_a_short_answer_needs_no_stream() -> None:
    desk = writing("Ten a day.")
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        ts = await asked(peer, desk)
        assert WHOLE in the_one_reply(peer, ts)
        assert not peer.calls("chat.startStream")


@pytest.mark.parametrize("lack", ["unknown_method", "missing_scope"])
async def test_where_there_are_no_streams_a_message_is_edited(lack: str) -> None:
    desk = writing()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.foresees(lack)
        peer.api.standing["chat.startStream"] = lack
        for _ in range(2):
            assert WHOLE in the_one_reply(peer, await asked(peer, desk))
        assert len(peer.calls("chat.startStream")) == 1, "what is not there is asked for once"
        assert len(methods(peer, "chat.update")) >= 4
        assert any("chat.startStream" in f.detail for f in await platform.findings())


async def test_a_stream_that_expires_is_gone_on_with_by_editing() -> None:
    desk = writing()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.foresees("message_not_in_streaming_state")
        peer.api.streams.seconds = 0.1
        ts = await asked(peer, desk)
        assert WHOLE in the_one_reply(peer, ts)
        assert peer.api.streams.expired == 1
        assert len(methods(peer, "chat.update")) >= 2


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream"])
@pytest.mark.parametrize("fault", [Fault.LOST_RESPONSE, Fault.RESET, Fault.RATE_LIMITED])
async def test_a_stream_that_breaks_leaves_one_whole_answer(method: str, fault: Fault) -> None:
    desk = writing()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.foresees("streaming_state_conflict", "message_not_in_streaming_state", "ratelimited")
        peer.fails(method, fault)
        ts = await asked(peer, desk)
        assert WHOLE in the_one_reply(peer, ts)


async def test_what_is_begun_anew_takes_the_place_of_what_was_shown() -> None:
    desk = writing(*PIECES[:4], RESTART + " A quite different answer, and a longer one, too. ")
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        ts = await asked(peer, desk)
        assert WHOLE in the_one_reply(peer, ts)


async def test_a_killed_process_leaves_a_draft_that_becomes_the_answer() -> None:
    markers, later = MemoryMarkers(), writing()
    async with SlackPeer() as peer:
        desk, ts = await killed_while_writing(peer, markers)
        [draft] = peer.world.replies(GENERAL, ts)
        async with slack_at_work(peer, later, markers=markers):
            await handed_on(peer, desk, later)
        assert WHOLE in the_one_reply(peer, ts)
        assert peer.world.replies(GENERAL, ts) == [draft]


async def test_a_stream_whose_end_has_to_wait_a_moment_still_becomes_the_answer() -> None:
    markers, later = MemoryMarkers(), writing()
    async with SlackPeer() as peer:
        desk, ts = await killed_while_writing(peer, markers)
        peer.foresees("ratelimited")
        peer.fails("chat.stopStream", Fault.RATE_LIMITED)
        [draft] = peer.world.replies(GENERAL, ts)
        async with slack_at_work(peer, later, markers=markers):
            await handed_on(peer, desk, later)
        assert WHOLE in the_one_reply(peer, ts)
        assert peer.world.replies(GENERAL, ts) == [draft]


async def test_a_draft_whose_opening_is_not_known_is_found_again() -> None:
    desk, markers = writing(), MemoryMarkers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, markers=markers):
        peer.fails("chat.startStream", Fault.LOST_RESPONSE)
        peer.foresees("streaming_state_conflict", "message_not_in_streaming_state")
        ts = await asked(peer, desk)
        assert WHOLE in the_one_reply(peer, ts)
        assert len(peer.calls("conversations.replies")) == 1


async def test_a_draft_that_somebody_removed_is_posted_anew() -> None:
    desk = writing(between=0.1)
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.foresees("message_not_found")
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await until(lambda: bool(peer.world.replies(GENERAL, ts)))
        [draft] = peer.world.replies(GENERAL, ts)
        del peer.world.channels[GENERAL].messages[draft.ts]
        await settled(peer, desk)
        assert WHOLE in the_one_reply(peer, ts)


@pytest.mark.parametrize("method", ["chat.update", "chat.stopStream"])
async def test_an_answer_does_not_wait_for_minutes_until_its_draft_can_be_edited(
    method: str,
) -> None:
    """As after a storm of restarts: each has left its drafts, and Slack counts edits."""
    markers, later = MemoryMarkers(), writing()
    async with SlackPeer() as peer:
        desk, ts = await killed_while_writing(peer, markers)
        [draft] = peer.world.replies(GENERAL, ts)
        async with slack_at_work(peer, later, markers=markers) as platform:
            platform.teams.of(TEAM).budget.hold(method, 3_600.0)
            await handed_on(peer, desk, later)
        [reply] = peer.world.replies(GENERAL, ts)
        assert reply.ts != draft.ts
        assert WHOLE in reply.seen


async def test_a_withdrawn_question_leaves_no_draft() -> None:
    desk = writing(between=0.1)
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.foresees("message_not_found", "message_not_in_streaming_state")
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await until(lambda: bool(peer.world.replies(GENERAL, ts)))
        peer.delete(GENERAL, ts)
        await settled(peer, desk)
        await until(lambda: not peer.world.replies(GENERAL, ts))


async def test_a_question_that_is_withdrawn_while_its_draft_opens_leaves_none() -> None:
    desk, markers = writing(between=0.2), SlowMarkers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, markers=markers):
        peer.foresees("message_not_found", "message_not_in_streaming_state")
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await until(lambda: bool(peer.calls("chat.startStream")))
        peer.delete(GENERAL, ts)
        await settled(peer, desk)
        await until(lambda: bool(peer.calls("chat.delete")))
        assert not peer.world.replies(GENERAL, ts)


@pytest.mark.parametrize("opening_is_known", [True, False])
async def test_a_draft_that_a_killed_process_left_goes_with_its_question(
    opening_is_known: bool,
) -> None:
    markers = MemoryMarkers()
    async with SlackPeer() as peer:
        desk, ts = await killed_while_writing(peer, markers)
        [draft] = [name for name, value in markers.values.items() if value.startswith("draft")]
        if not opening_is_known:
            markers.values[draft] = OPENING
        [question] = desk.questions.values()
        async with slack_at_work(peer, writing(), markers=markers) as platform:
            await platform.replies.clear(question)
            assert not peer.world.replies(GENERAL, ts)
            calls = len(peer.api.calls)
            await platform.replies.clear(question)
            assert len(peer.api.calls) == calls, "what is gone is looked for no more"


async def test_nothing_unfinished_takes_the_place_of_an_answer() -> None:
    desk = writing()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        ts = await asked(peer, desk)
        before = len(peer.api.calls)
        [question] = desk.questions.values()
        async with platform.replies.progress(question) as progress:
            for piece in PIECES:
                await progress.text(piece)
            await asyncio.sleep(0.1)
        made = {call.method for call in peer.api.calls[before:]}
        assert made <= {"assistant.threads.setStatus"}
        assert WHOLE in the_one_reply(peer, ts)


async def test_a_long_answer_streams_its_beginning_and_is_posted_whole() -> None:
    paragraphs: Sequence[str] = [f"Paragraph {n}. " + "word " * 900 + "\n\n" for n in range(6)]
    desk = FakeDesk(lambda question: an_answer("".join(paragraphs)))
    desk.writes, desk.between = paragraphs, 0.05
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.say(DIRECT, ANN, "tell me everything")
        await settled(peer, desk)
        replies = list(peer.world.everything_of_the_bot())
        seen = "\n".join(reply.seen for reply in replies)
        places = [seen.index(f"Paragraph {number}.") for number in range(6)]
        assert len(replies) > 2
        assert places == sorted(places)


async def test_the_stream_shows_markdown_that_slack_reads_as_it_was_meant() -> None:
    desk = writing("Use `a < b` and <!channel> & co. That is enough for a first flush. ", *PIECES)
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        await asked(peer, desk)
        [start] = peer.calls("chat.startStream")
        begun = start.arguments["markdown_text"]
        assert begun.startswith("Use `a < b` and &lt; !channel&gt; &amp;")


def test_the_part_that_is_shown_never_grows_beyond_a_message() -> None:
    assert len(shown_part("word " * 10_000)) <= SHOWN_LIMIT


SOON: dict[str, Any] = {"look_again_after": (0.02, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)}


async def lost(peer: SlackPeer, desk: FakeDesk) -> str:
    """A question whose answer was posted beside a stream that Slack has yet to begin."""
    peer.foresees("streaming_state_conflict", "message_not_in_streaming_state")
    peer.fails("chat.startStream", Fault.LATE)
    ts = await asked(peer, desk)
    assert WHOLE in the_one_reply(peer, ts)
    return ts


async def test_half_an_answer_that_appears_beside_the_answer_is_taken_away() -> None:
    desk = writing()
    async with SlackPeer() as peer, slack_at_work(peer, desk, **SOON):
        ts = await lost(peer, desk)
        peer.takes_effect()
        assert len(peer.world.replies(GENERAL, ts)) == 2
        await until(lambda: len(peer.world.replies(GENERAL, ts)) == 1)
        assert WHOLE in the_one_reply(peer, ts)


async def test_half_an_answer_that_appears_after_a_restart_is_taken_away() -> None:
    desk, markers = writing(), MemoryMarkers()
    async with SlackPeer() as peer:
        async with slack_at_work(peer, desk, markers=markers, **SOON):
            ts = await lost(peer, desk)
        peer.takes_effect()
        async with slack_at_work(peer, writing(), markers=markers, **SOON):
            await until(lambda: len(peer.world.replies(GENERAL, ts)) == 1)
        assert WHOLE in the_one_reply(peer, ts)


async def test_half_an_answer_that_appears_after_its_question_was_withdrawn_is_taken_away() -> None:
    desk = writing(between=0.2)
    async with SlackPeer() as peer, slack_at_work(peer, desk, **SOON):
        peer.fails("chat.startStream", Fault.LATE)
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        peer.say(GENERAL, ANN, "it matters to me", ts)  # so that the thread stays
        await until(lambda: not peer.will_fail("chat.startStream"))
        peer.delete(GENERAL, ts)
        await settled(peer, desk)
        peer.takes_effect()
        await until(lambda: not peer.world.replies(GENERAL, ts))


async def test_the_draft_of_the_next_answer_is_not_taken_for_the_lost_one() -> None:
    desk = writing()
    async with SlackPeer() as peer, slack_at_work(peer, desk, **SOON):
        ts = await lost(peer, desk)
        desk.between = 0.1
        looks = len(peer.calls("conversations.replies"))
        peer.say(GENERAL, ANN, "and a week?", ts)
        await settled(peer, desk)
        assert len(peer.calls("conversations.replies")) > looks, "it was looked for meanwhile"
        assert not peer.calls("chat.delete")
        assert len(peer.world.replies(GENERAL, ts)) == 2
        peer.takes_effect()
        await until(lambda: bool(peer.calls("chat.delete")))
        assert all(WHOLE in reply.seen for reply in peer.world.replies(GENERAL, ts))


async def test_a_draft_that_never_appears_is_looked_for_a_few_times_only() -> None:
    desk, markers = writing(), MemoryMarkers()
    bounds: dict[str, Any] = {"look_again_after": (0.02, 0.05, 0.1)}
    async with SlackPeer() as peer, slack_at_work(peer, desk, markers=markers, **bounds):
        await lost(peer, desk)
        await until(lambda: markers.values.get(MARKER) == "[]")
        assert len(peer.calls("conversations.replies")) == 1 + len(bounds["look_again_after"])
