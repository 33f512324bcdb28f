"""Questions in Slack are heard, accepted once, and answered once in their thread."""

from __future__ import annotations

import asyncio

import pytest

from adapters.slack.app import open_slack
from rag_core.desk.progress import QuestionState
from rag_core.errors import ConfigurationError
from tests.fakes.answers import PAGE
from tests.fakes.markers import MemoryMarkers
from tests.fakes.slack_desk import desk_that_answers
from tests.fakes.slack_house import config_for, parts_for, settled, slack_at_work, until
from tests.peers.slack import (
    ANN,
    BEN,
    DIRECT,
    ELSEWHERE,
    GENERAL,
    MENTION,
    Fault,
    SlackPeer,
)

BOTH_WAYS = pytest.mark.parametrize("over", ["socket", "http"])


@BOTH_WAYS
async def test_a_mention_is_answered_once_in_its_thread_with_a_link(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        [reply] = peer.world.replies(GENERAL, ts)
        assert reply.thread_ts == ts
        assert "Ten a day [1]." in reply.seen
        assert f"[1] <{PAGE}|Limits › Daily>" in reply.seen
        assert reply.text.startswith("Ten a day [1].")
        assert not reply.unfurls
        assert not reply.pings


@BOTH_WAYS
async def test_both_events_of_a_mention_are_one_question(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        assert [e.payload["event"]["type"] for e in peer.envelopes()] == ["app_mention", "message"]
        assert desk.accepted == 2
        [question] = desk.questions.values()
        assert question.question.message == "how many a day?"
        assert (question.message_id, question.position, question.key.thread_id) == (ts, ts, ts)
        assert len(peer.world.replies(GENERAL, ts)) == 1


@BOTH_WAYS
async def test_a_repeated_event_is_acknowledged_and_changes_nothing(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        repeats = [peer.repeat(envelope) for envelope in peer.envelopes() for _ in range(3)]
        await settled(peer, desk)
        assert all(envelope.acked_at for envelope in repeats)
        assert len(peer.world.replies(GENERAL, ts)) == 1


@BOTH_WAYS
async def test_each_direct_message_is_a_thread_of_its_own(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        first = peer.say(DIRECT, ANN, "how many a day?")
        second = peer.say(DIRECT, ANN, "and a week?")
        inside = peer.say(DIRECT, ANN, "why?", thread_ts=first)
        await settled(peer, desk)
        threads = {q.message_id: q.key.thread_id for q in desk.questions.values()}
        assert threads == {first: first, second: second, inside: first}
        assert len(peer.world.replies(DIRECT, first)) == 2
        assert len(peer.world.replies(DIRECT, second)) == 1


@BOTH_WAYS
async def test_a_follow_up_in_the_bots_thread_needs_no_mention_even_after_a_restart(
    over: str,
) -> None:
    desk, markers = desk_that_answers(), MemoryMarkers()
    async with SlackPeer() as peer:
        async with slack_at_work(peer, desk, markers=markers, over=over):
            ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
            await settled(peer, desk)
        async with slack_at_work(peer, desk, markers=markers, over=over):
            peer.say(GENERAL, BEN, "and in a week?", thread_ts=ts)
            await settled(peer, desk)
        assert [q.question.message for q in desk.questions.values()][-1] == "and in a week?"
        assert {q.key.thread_id for q in desk.questions.values()} == {ts}
        assert len(peer.world.replies(GENERAL, ts)) == 2


@BOTH_WAYS
async def test_talk_that_is_not_for_the_bot_is_acknowledged_and_left_alone(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        asked = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        other = peer.say(GENERAL, BEN, "lunch?")
        await settled(peer, desk)
        peer.say(GENERAL, ANN, "at noon", thread_ts=other)
        peer.say(GENERAL, ANN, "Thanks a lot!", thread_ts=asked)
        peer.say(GENERAL, ANN, f"<@{BEN}> did you know?", thread_ts=asked)
        peer.say(GENERAL, BEN, "joined", subtype="channel_join")
        peer.say(GENERAL, BEN, f"{MENTION} beep", bot_id="B0OTHER")
        peer.say(ELSEWHERE, BEN, f"{MENTION} are you here?")
        peer.edit(GENERAL, other, f"{MENTION} lunch?")
        await settled(peer, desk)
        assert [q.message_id for q in desk.questions.values()] == [asked]
        assert all(envelope.attempts == 1 for envelope in peer.envelopes())
        assert len(list(peer.world.everything_of_the_bot())) == 1


@BOTH_WAYS
async def test_an_event_nobody_listens_to_is_acknowledged(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        changed = {"type": "assistant_thread_context_changed", "event_ts": "1.1"}
        envelope = peer.emit(changed | {"assistant_thread": {"channel_id": DIRECT}})
        await settled(peer, desk)
        assert envelope is not None
        assert envelope.acked_at


@BOTH_WAYS
async def test_an_event_is_acknowledged_only_once_the_desk_has_it(over: str) -> None:
    desk = desk_that_answers()
    desk.failing = 3
    peer = SlackPeer(ack_seconds=0.2, pauses=(0.0, 0.1, 0.1))
    async with peer, slack_at_work(peer, desk, over=over):
        ts = peer.say(DIRECT, ANN, "how many a day?")
        [envelope] = peer.envelopes()
        await until(lambda: envelope.attempts == 3)
        assert envelope.acked_at is None
        await settled(peer, desk)
        assert envelope.attempts == 4
        assert not envelope.given_up
        assert len(peer.world.replies(DIRECT, ts)) == 1


@pytest.mark.parametrize("fault", [Fault.LOST_RESPONSE, Fault.HANG, Fault.RESET])
async def test_a_post_whose_outcome_is_unknown_is_looked_up_and_not_doubled(fault: Fault) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.fails("chat.postMessage", fault)
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        assert len(peer.world.replies(GENERAL, ts)) == 1
        assert len(peer.calls("conversations.replies")) == 1
        posts = 1 if fault is Fault.LOST_RESPONSE else 2
        assert len(peer.calls("chat.postMessage")) + (fault is not Fault.LOST_RESPONSE) == posts


@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.GARBAGE, Fault.PLAIN_TEXT])
async def test_an_answer_that_is_not_slacks_is_no_post(fault: Fault) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.fails("chat.postMessage", fault)
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        assert len(peer.world.replies(GENERAL, ts)) == 1
        assert len(peer.calls("conversations.replies")) == 1


async def test_a_rate_limit_is_waited_out_as_long_as_slack_says() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.fails("chat.postMessage", Fault.RATE_LIMITED)
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        assert len(peer.world.replies(GENERAL, ts)) == 1
        assert not peer.calls("conversations.replies"), "a clear refusal needs no look-up"


async def test_a_long_answer_arrives_in_order_and_gives_no_cause_for_a_rate_limit() -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 900 for number in range(10))
    desk = desk_that_answers(text)
    async with SlackPeer() as peer, slack_at_work(peer, desk, post_seconds=0.3):
        peer.api.limits.on = True
        peer.api.limits.rules["chat.postMessage"] = (1, 0.15)
        ts = peer.say(GENERAL, ANN, f"{MENTION} tell me everything")
        await settled(peer, desk)
        replies = peer.world.replies(GENERAL, ts)
        seen = "\n".join(reply.seen for reply in replies)
        places = [seen.index(f"Paragraph {number}.") for number in range(10)]
        assert len(replies) > 4
        assert places == sorted(places)
        assert seen.index("[1] <") > places[-1]


async def test_progress_is_shown_where_slack_lets_us() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        ts = peer.say(DIRECT, ANN, "how many a day?")
        await settled(peer, desk)
        [question] = desk.questions.values()
        async with platform.replies.progress(question) as progress:
            await progress.stage(QuestionState.GENERATING, "Checking citations…")
            await until(lambda: (DIRECT, ts, "Checking citations…") in peer.world.statuses)


@pytest.mark.parametrize("lack", ["unknown_method", "missing_scope"])
async def test_where_there_is_no_status_the_answers_come_without(lack: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.foresees(lack)
        peer.api.standing["assistant.threads.setStatus"] = lack
        peer.say(DIRECT, ANN, "how many a day?")
        await settled(peer, desk)
        [question] = desk.questions.values()
        asked = []
        for state in (QuestionState.RETRIEVING, QuestionState.GENERATING, QuestionState.PENDING):
            async with platform.replies.progress(question) as progress:
                await progress.stage(state)
                await asyncio.sleep(0.1)
            asked.append(len(peer.calls("assistant.threads.setStatus")))
        assert asked[0] >= 1
        assert len(set(asked)) == 1, "what is not there is asked for once"
        assert len(list(peer.world.everything_of_the_bot())) == 1


async def test_a_missing_scope_is_a_clear_refusal_and_no_retry_storm() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.foresees("missing_scope")
        peer.api.scopes.discard("chat:write")
        peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await until(lambda: bool(desk.given_up))
        assert desk.given_up == ["slack: missing_scope"]
        assert len(peer.calls("chat.postMessage")) == 1


@pytest.mark.parametrize(
    ("tokens", "variable"),
    [
        ({"bot_token": "xoxb-wrong"}, "SLACK_BOT_TOKEN"),
        ({"app_token": "xapp-wrong"}, "SLACK_APP_TOKEN"),
    ],
)
async def test_a_refused_token_is_one_line_that_names_its_setting(
    tokens: dict[str, str], variable: str
) -> None:
    async with SlackPeer() as peer:
        peer.foresees("invalid_auth")
        with pytest.raises(ConfigurationError) as caught:
            async with open_slack(config_for(peer, **tokens), parts_for(desk_that_answers())):
                pass
        assert variable in str(caught.value)
        assert "\n" not in str(caught.value)
        assert not any(token in str(caught.value) for token in tokens.values())


@BOTH_WAYS
async def test_a_slack_that_is_away_at_the_start_is_tried_until_it_is_there(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer:
        peer.fails("auth.test", Fault.RESET, Fault.RESET, Fault.RESET)
        peer.fails("apps.connections.open", Fault.RESET)
        async with slack_at_work(peer, desk, over=over) as platform:
            ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
            await settled(peer, desk)
            assert len(peer.world.replies(GENERAL, ts)) == 1
            assert [f.in_place for f in await platform.findings()] == [True]


async def test_while_slack_is_away_the_platform_is_not_ready_and_says_so() -> None:
    async with SlackPeer() as peer:
        peer.fails("auth.test", Fault.RESET)
        async with open_slack(config_for(peer), parts_for(desk_that_answers())) as platform:
            assert not platform.is_ready
            [finding] = await platform.findings()
            assert not finding.in_place
            assert "keeps trying" in finding.detail


async def test_a_token_revoked_later_ends_the_platform_with_one_line() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer:
        peer.foresees("invalid_auth")
        async with open_slack(config_for(peer), parts_for(desk)) as platform:
            running = asyncio.create_task(platform.run())
            await until(lambda: platform.is_ready)
            peer.api.tokens.clear()
            await peer.sockets.drop()
            with pytest.raises(ConfigurationError, match="SLACK_APP_TOKEN"):
                await asyncio.wait_for(running, 10)
            assert not platform.is_ready


async def test_a_refreshed_or_dropped_socket_is_replaced_and_nothing_is_missed() -> None:
    desk = desk_that_answers()
    peer = SlackPeer(ack_seconds=0.5, pauses=(0.0, 0.2, 0.2))
    async with peer, slack_at_work(peer, desk) as platform:
        for number, end in enumerate((peer.sockets.refresh, peer.sockets.drop), start=2):
            peer.say(DIRECT, ANN, "before?")
            await end()
            peer.say(DIRECT, ANN, "after?")
            await until(lambda number=number: peer.sockets.sessions == number)
            await until(lambda: platform.is_ready)
        await settled(peer, desk)
        assert len(desk.questions) == 4
        assert len(list(peer.world.everything_of_the_bot())) == 4


async def test_frames_that_are_no_envelopes_do_no_harm() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        for frame in ("hello?", "[]", "null", "[" * 50_000, '{"type": "events_api"}'):
            await peer.sockets.babble(frame)
        peer.say(DIRECT, ANN, "how many a day?")
        await settled(peer, desk)
        assert platform.is_ready
        assert len(list(peer.world.everything_of_the_bot())) == 1


async def test_an_envelope_the_library_trips_over_is_not_acknowledged() -> None:
    desk = desk_that_answers()
    peer = SlackPeer(ack_seconds=0.1, pauses=())
    async with peer, slack_at_work(peer, desk):
        strange = peer.sockets.deliver("events_api", {"type": "event_callback", "event": [1]})
        peer.say(DIRECT, ANN, "how many a day?")
        await until(lambda: strange.given_up)
        async with asyncio.timeout(10):
            await desk.idle.wait()
        assert strange.acked_at is None
        assert len(desk.questions) == 1


async def test_socket_mode_switched_off_ends_the_platform_with_one_line() -> None:
    desk = desk_that_answers()
    async with (
        SlackPeer() as peer,
        open_slack(config_for(peer), parts_for(desk)) as platform,
    ):
        running = asyncio.create_task(platform.run())
        await until(lambda: platform.is_ready)
        await peer.sockets.refresh("link_disabled")
        with pytest.raises(ConfigurationError, match="SLACK_APP_TOKEN"):
            await asyncio.wait_for(running, 10)
