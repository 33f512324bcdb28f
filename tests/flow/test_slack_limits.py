"""Slack's limits are kept, and what it refuses for good is said once and not tried for ever."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

import pytest

from adapters.slack.calling.budget import Budget
from adapters.slack.calling.lines import ComesLater
from rag_core.desk.progress import QuestionState
from rag_core.errors import UpstreamRejected
from tests.fakes.answers import an_answer
from tests.fakes.slack_desk import FakeDesk
from tests.fakes.slack_house import settled, slack_at_work, until
from tests.peers.slack import ANN, BOT_USER, DIRECT, GENERAL, MENTION, TEAM, SlackPeer

FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
ANSWERS = 20
PIECES = [f"Sentence number {number} of the answer. " for number in range(6)]


def desk_that_answers() -> FakeDesk:
    desk = FakeDesk(lambda question: an_answer("".join(PIECES) + "Ten a day [1]."))
    desk.writes = PIECES
    return desk


async def test_twenty_answers_a_minute_give_no_cause_for_a_rate_limit() -> None:
    """In all of Slack's limits at once: streams, edits, posts, statuses."""
    desk = desk_that_answers()
    desk.between = 0.5 if FULL else 0.05
    step = 60 / ANSWERS if FULL else 0.02
    async with SlackPeer() as peer, slack_at_work(peer, desk, write_seconds=1.0 if FULL else 0.05):
        peer.api.limits.on = True
        asked = []
        for _ in range(ANSWERS):
            asked.append(peer.say(GENERAL, ANN, f"{MENTION} how many a day?"))
            await asyncio.sleep(step)
        await settled(peer, desk, at_most=120)
        assert not [call for call in peer.api.calls if call.error]
        for ts in asked:
            [reply] = peer.world.replies(GENERAL, ts)
            assert "Ten a day [1]." in reply.seen
        assert len(peer.calls("chat.startStream")) == ANSWERS


async def test_more_answers_than_slack_takes_streams_are_whole_all_the_same() -> None:
    desk = desk_that_answers()
    desk.between = 0.02
    async with SlackPeer() as peer, slack_at_work(peer, desk, post_seconds=1.0):
        peer.api.limits.on = True
        asked = [peer.say(GENERAL, ANN, f"{MENTION} how many a day?") for _ in range(23)]
        await settled(peer, desk, at_most=90)
        assert not [call for call in peer.api.calls if call.error]
        assert all(len(peer.world.replies(GENERAL, ts)) == 1 for ts in asked)
        assert len(peer.calls("chat.startStream")) == 20


async def test_the_first_text_waits_for_no_pace() -> None:
    """Whoever waited for the pause between two writes would not be done today."""
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, write_seconds=86_400.0) as platform:
        ts = peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
        await settled(peer, desk)
        question = next(iter(desk.questions.values()))
        fresh = question.__class__(
            **{name: getattr(question, name) for name in question.__slots__}
            | {"message_id": peer.world.next_ts()}
        )
        before = len(peer.api.calls)
        async with platform.replies.progress(fresh) as progress:
            await progress.stage(QuestionState.RETRIEVING)
            await until(lambda: len(peer.api.calls) > before)
            await progress.text(PIECES[0])
            await progress.text(PIECES[1])
            await until(
                lambda: any(c.method == "chat.startStream" for c in peer.api.calls[before:])
            )
        assert len(peer.world.replies(GENERAL, ts)) == 2


async def test_a_bot_token_that_is_revoked_is_asked_about_once_and_said_in_words() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.foresees("token_revoked")
        for method in ("chat.postMessage", "chat.startStream", "users.info", "chat.update"):
            peer.api.standing[method] = "token_revoked"
        peer.api.standing["assistant.threads.setStatus"] = "token_revoked"
        for _ in range(5):
            peer.say(DIRECT, ANN, "how many a day?")
        await settled(peer, desk)
        assert not platform.is_ready
        refused = [call for call in peer.api.calls if call.error == "token_revoked"]
        assert len(refused) <= 6, "calls that were on their way, and none after"
        before = len(peer.api.calls)
        peer.say(DIRECT, ANN, "and now?")
        await settled(peer, desk)
        assert len(peer.api.calls) == before
        [finding] = [f for f in await platform.findings() if "token_revoked" in f.detail]
        assert "valid token" in finding.advice


@pytest.mark.parametrize(
    "event",
    [{"type": "app_uninstalled"}, {"type": "tokens_revoked", "tokens": {"bot": [BOT_USER]}}],
)
async def test_an_app_that_was_removed_calls_slack_no_more(event: dict[str, Any]) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.emit(event | {"event_ts": "1.1"})
        await peer.heard()
        assert not platform.is_ready


async def test_a_persons_own_token_that_is_revoked_changes_nothing() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.emit({"type": "tokens_revoked", "event_ts": "1.1", "tokens": {"oauth": [ANN]}})
        await peer.heard()
        assert platform.is_ready


@pytest.mark.parametrize(
    ("error", "words"),
    [("missing_scope", "chat:write"), ("is_archived", "Unarchive"), ("not_in_channel", "/invite")],
)
async def test_what_only_a_person_can_mend_is_said_once(
    error: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    desk = FakeDesk(lambda question: an_answer())
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.foresees(error)
        for _ in range(3):
            peer.say(GENERAL, ANN, f"{MENTION} how many a day?")
            await peer.heard()
        if error == "missing_scope":
            peer.api.scopes.discard("chat:write")
            peer.api.scopes.discard("assistant:write")
        else:
            peer.api.standing["chat.postMessage"] = error
        for _ in range(3):
            peer.say(GENERAL, ANN, f"{MENTION} and a week?")
        await settled(peer, desk)
        found = [f for f in await platform.findings() if "chat.postMessage" in f.detail]
        assert len(found) <= 1
        if found:
            assert words in f"{found[0].detail} {found[0].advice}"
        said = [r for r in caplog.records if "chat.postMessage" in r.getMessage()]
        assert len(said) <= 1


def test_no_more_calls_are_made_than_a_minute_holds() -> None:
    now = [0.0]
    budget = Budget(clock=lambda: now[0])
    assert [budget.take("chat.update") for _ in range(51)] == [True] * 50 + [False]
    assert budget.pause("chat.update") == pytest.approx(61.0)
    now[0] = 61.0
    assert not budget.take("chat.update", leaving=50)
    assert budget.take("chat.update", leaving=25)
    budget.hold("chat.update", 5.0)
    assert not budget.take("chat.update")


def test_a_stream_is_begun_only_where_its_end_will_find_room() -> None:
    now = [0.0]
    budget = Budget(clock=lambda: now[0])
    assert all(budget.open_stream() for _ in range(20))
    now[0] = 61.0
    assert not budget.open_stream(), "twenty that are open may all end in this minute"
    for _ in range(20):
        assert budget.take("chat.stopStream")
        budget.close_stream()
    assert not budget.open_stream()
    now[0] = 122.0
    assert budget.open_stream()


def test_a_draft_is_begun_only_where_its_answer_will_find_room() -> None:
    now = [0.0]
    budget = Budget(clock=lambda: now[0])
    begun = [name for name in map(str, range(60)) if budget.open_draft(name)]
    assert len(begun) == 40, "some edits are left to answers that change"
    for name in begun:
        assert budget.take("chat.update"), "an answer need not wait because of other drafts"
        budget.close_draft(name)
    assert not budget.open_draft("later"), "forty edits were made in this minute"
    now[0] = 61.0
    assert budget.open_draft("later")


def test_a_draft_without_an_answer_keeps_its_room_for_a_while_only() -> None:
    now = [0.0]
    budget = Budget(clock=lambda: now[0])
    for name in map(str, range(40)):
        assert budget.open_draft(name)
    now[0] = 100.0
    assert not budget.open_draft("later")
    assert budget.promised == 40
    now[0] = 181.0
    assert budget.open_draft("later")
    assert budget.promised == 1


def test_a_notice_is_posted_only_where_it_can_be_taken_away_in_time() -> None:
    now = [0.0]
    budget = Budget(clock=lambda: now[0])
    posted = [name for name in map(str, range(60)) if budget.open_notice(name)]
    assert len(posted) == 40, "some deletions are left to answers that are withdrawn"
    for name in posted:
        assert budget.take("chat.delete")
        budget.close_notice(name)
    assert not budget.open_notice("later"), "forty were taken away in this minute"
    now[0] = 61.0
    assert budget.open_notice("later")


def test_the_turn_of_who_comes_last_is_as_far_away_as_the_line_is_long() -> None:
    now = [0.0]
    budget = Budget(clock=lambda: now[0])
    for _ in range(50):
        assert budget.take("chat.delete")
        now[0] += 1.0
    now[0] = 60.5
    assert [budget.pause("chat.delete", before) for before in (0, 1, 10, 49, 50, 100)] == [
        pytest.approx(seconds) for seconds in (0.5, 1.5, 10.5, 49.5, 61.5, 122.5)
    ]
    assert budget.pause("chat.postMessage", 1_000) == 0.0, "channels have their own line"


async def test_of_a_crowd_few_stand_in_line_and_the_others_come_later() -> None:
    """The room of a minute comes back bit by bit: each of them would always be nearly next."""
    now = [0.0]
    budget = Budget(clock=lambda: now[0])
    for _ in range(50):
        assert budget.take("chat.delete")
        now[0] += 1.0
    now[0] = 60.5
    crowd = [asyncio.create_task(budget.turn("chat.delete", at_most=10.0)) for _ in range(127)]
    await asyncio.sleep(0.01)
    gone = [task for task in crowd if task.done()]
    assert len(gone) == 127 - 10
    assert {type(task.exception()) for task in gone} == {ComesLater}
    assert not budget.take("chat.delete"), "nobody goes before who stands in line"
    for task in crowd:
        task.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)
    now[0] = 62.0
    assert budget.take("chat.delete"), "who left the line holds nobody up"


async def test_an_answer_whose_method_must_wait_for_long_is_left_to_the_desk_till_then() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        team = platform.teams.of(TEAM)
        team.budget.hold("chat.update", 3_600.0)
        with pytest.raises(UpstreamRejected) as refused:
            await team.call_soon("chat.update", channel=GENERAL, ts="1.1", text="Ten a day.")
        assert refused.value.retryable
        assert refused.value.retry_after == pytest.approx(3_600.0, abs=60.0)
        assert not peer.calls("chat.update")
