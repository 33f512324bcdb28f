"""What comes in another shape or order than Slack's own does no harm, and is answered if it can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.fakes.slack_desk import desk_that_answers
from tests.fakes.slack_house import settled, slack_at_work, until
from tests.peers.slack import ANN, BEN, GENERAL, MENTION, TEAM, Fault, SlackPeer
from tests.peers.slack_world import BOT

ASKED = "how many a day?"
GONE: Any = object()
"""Stands for a part that is left out."""


def whole(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if part is not GONE}


def tell(peer: SlackPeer, event: Mapping[str, Any], **envelope: Any) -> Any:
    """An event in an envelope of the least that anybody sends."""
    body = {
        "type": "event_callback",
        "team_id": TEAM,
        "event_id": f"Ev{len(peer.deliveries.envelopes)}",
        "event": whole(event),
        **envelope,
    }
    return peer.deliveries.deliver("events_api", whole(body))


def a_mention(ts: str, **changes: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "channel": GENERAL,
        "user": ANN,
        "ts": ts,
        "text": f"{MENTION} {ASKED}",
        **changes,
    }


def stands(peer: SlackPeer, text: str = f"{MENTION} {ASKED}") -> str:
    """A message that stands in the channel, of which nobody has told us yet."""
    deliver, peer.emit = peer.emit, lambda event: None  # type: ignore[method-assign]
    ts = peer.say(GENERAL, ANN, text)
    peer.emit = deliver  # type: ignore[method-assign]
    return ts


LESS_OR_MORE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"type": "app_mention"}, {"event_context": "x", "event_time": 1}),
    ({"type": "app_mention"}, {"authorizations": []}),
    ({}, {"authorizations": None}),
    ({}, {"authorizations": [{}]}),
    ({}, {"authorizations": [{"team_id": TEAM, "enterprise_id": "E1", "is_bot": True}]}),
    ({}, {"enterprise_id": "E1", "is_ext_shared_channel": True, "context_team_id": "T9"}),
    ({"team": TEAM, "user_team": TEAM, "source_team": TEAM}, {"is_ext_shared_channel": True}),
    ({}, {"event_id": GONE}),
    ({"blocks": None, "files": None, "client_msg_id": None, "thread_ts": None}, {}),
    ({"blocks": [], "attachments": [], "metadata": {}, "edited": None}, {}),
    ({"blocks": [{"type": "rich_text", "elements": "x"}]}, {}),
    ({"subtype": None, "bot_id": None, "bot_profile": None, "hidden": None}, {}),
    ({"subtype": "file_share", "files": [{}]}, {}),
    ({"subtype": "file_share", "files": [{"id": "F1", "mode": "tombstone"}]}, {}),
    ({"subtype": "file_share", "files": ["F1"]}, {}),
    ({"subtype": "file_share", "files": [{"mimetype": "image/png", "url_private": "x"}]}, {}),
    ({"subtype": "thread_broadcast", "root": {}}, {}),
    ({"parent_user_id": "U9", "reply_count": 3, "locale": 7, "channel_type": "channel"}, {}),
    ({"something": {"of": "tomorrow"}}, {"something": [1]}),
]


@pytest.mark.parametrize("over", ["socket", "http"])
@pytest.mark.parametrize(("event", "envelope"), LESS_OR_MORE)
async def test_a_mention_that_tells_less_or_more_than_usual_is_answered_once(
    event: dict[str, Any], envelope: dict[str, Any], over: str
) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        ts = stands(peer)
        told = tell(peer, a_mention(ts, **event), **envelope)
        await settled(peer, desk)
        assert told.acked_at
        [question] = desk.questions.values()
        assert question.question.message.startswith(ASKED)
        assert (question.message_id, question.key.tenant) == (ts, TEAM)
        assert len(peer.world.replies(GENERAL, ts)) == 1


async def test_a_thread_of_its_own_timestamp_is_the_message_itself() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        ts = stands(peer)
        tell(peer, a_mention(ts, thread_ts=ts))
        await settled(peer, desk)
        [question] = desk.questions.values()
        assert question.key.thread_id == ts
        assert not peer.calls("conversations.replies")


NO_QUESTION: list[dict[str, Any]] = [
    a_mention("1.1", bot_id=BOT),
    a_mention("1.1", bot_profile={"id": "B9", "app_id": "A9", "name": "other"}),
    a_mention("1.1", subtype="bot_message", user=GONE, username="ci"),
    a_mention("1.1", subtype="channel_join"),
    a_mention("1.1", subtype="huddle_thread"),
    a_mention("1.1", subtype="reminder_add"),
    a_mention("1.1", subtype="assistant_app_thread"),
    a_mention("1.1", hidden=True),
    a_mention("1.1", user=GONE),
    a_mention("1.1", user=["U1"]),
    a_mention("1.1", text=GONE, blocks=[]),
    a_mention(GONE),
    a_mention("1.1", channel={"id": GENERAL}),
    {"type": "message", "subtype": "message_changed"},
    {"type": "message", "subtype": "message_changed", "channel": GENERAL, "message": None},
    {"type": "message", "subtype": "message_changed", "channel": GENERAL, "message": {}},
    {"type": "message", "subtype": "message_deleted", "channel": GENERAL},
    {"type": "message", "subtype": "message_deleted", "deleted_ts": "1.1"},
    {"type": "message", "subtype": "message_replied", "channel": GENERAL, "message": {}},
    {"type": "message"},
    {"type": "app_home_opened"},
    {"type": "app_home_opened", "user": None, "tab": "home"},
    {"type": "assistant_thread_started"},
    {"type": "assistant_thread_started", "assistant_thread": {"user_id": 7}},
    {"type": "assistant_thread_context_changed", "assistant_thread": None},
    {"type": "tokens_revoked"},
    {"type": "tokens_revoked", "tokens": {"oauth": ["x"], "bot": None}},
    {"type": "team_join", "user": {}},
    {"type": "of_tomorrow"},
]


@pytest.mark.parametrize("over", ["socket", "http"])
async def test_what_asks_nothing_is_acknowledged_and_changes_nothing(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        told = [tell(peer, event) for event in NO_QUESTION]
        await settled(peer, desk)
        assert [e.payload["event"] for e in told if not e.acked_at] == []
        assert not desk.questions
        asked = peer.say(GENERAL, ANN, f"{MENTION} {ASKED}")
        await settled(peer, desk)
        assert len(peer.world.replies(GENERAL, asked)) == 1


async def test_an_edit_whose_earlier_words_are_not_told_counts_and_a_preview_does_not() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        ts = peer.say(GENERAL, ANN, f"{MENTION} {ASKED}")
        await settled(peer, desk)
        after = {"type": "message", "user": ANN, "ts": ts, "text": f"{MENTION} and a week?"}
        changed = {"type": "message", "subtype": "message_changed", "channel": GENERAL}
        tell(peer, {**changed, "message": after})
        await settled(peer, desk)
        assert [q.question.message for q in desk.questions.values()] == [ASKED]
        tell(peer, {**changed, "message": {**after, "edited": {"user": ANN, "ts": "2.2"}}})
        await settled(peer, desk)
        assert [q.question.message for q in desk.questions.values()] == ["and a week?"]


async def test_a_deletion_that_is_told_before_the_message_leaves_no_answer() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        ts = peer.say(GENERAL, ANN, f"{MENTION} {ASKED}")
        peer.delete(GENERAL, ts)
        peer.foresees("thread_not_found", "message_not_found")
        await settled(peer, desk)
        await until(lambda: not peer.world.replies(GENERAL, ts))


@pytest.mark.parametrize(
    "method",
    [
        "assistant.threads.setStatus",
        "chat.postMessage",
        "chat.startStream",
        "conversations.replies",
        "users.info",
    ],
)
@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_server_error_at_the_first_call_of_a_method_costs_no_answer(
    method: str, status: int
) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        head = peer.say(GENERAL, BEN, "The printer is broken.")
        await peer.heard()
        peer.says(method, {"ok": False, "error": "internal_error"}, status=status)
        peer.say(GENERAL, ANN, f"{MENTION} {ASKED}", thread_ts=head)
        await settled(peer, desk)
        await until(lambda: len(peer.world.replies(GENERAL, head)) == 1)


@pytest.mark.parametrize("method", ["auth.test", "apps.connections.open"])
@pytest.mark.parametrize(
    "body", [{"ok": False, "error": "internal_error"}, {"ok": False}, {}, {"ok": True}, [], None]
)
async def test_a_start_that_slack_answers_strangely_is_tried_again(method: str, body: Any) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer:
        peer.says(method, body, status=200 if isinstance(body, dict) and body.get("ok") else 500)
        async with slack_at_work(peer, desk):
            ts = peer.say(GENERAL, ANN, f"{MENTION} {ASKED}")
            await settled(peer, desk)
            assert len(peer.world.replies(GENERAL, ts)) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Retry_After": "0"},
        {"Retry_After": "0.01"},
        {"Retry_After": "-1"},
        {"Retry_After": "soon"},
        {"Retry_After": "nan"},
        {"Retry_After": ""},
    ],
)
async def test_whatever_a_rate_limit_tells_the_answer_comes_once(headers: dict[str, str]) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        body = {"ok": False, "error": "ratelimited"}
        peer.says("chat.postMessage", body, status=429, **headers)
        ts = peer.say(GENERAL, ANN, f"{MENTION} {ASKED}")
        await settled(peer, desk)
        await until(lambda: len(peer.world.replies(GENERAL, ts)) == 1)


@pytest.mark.parametrize(
    "method",
    [
        "assistant.threads.setStatus",
        "chat.startStream",
        "conversations.replies",
        "users.info",
    ],
)
@pytest.mark.parametrize("body", [{"ok": True}, {"ok": True, "user": 7, "messages": None, "ts": 1}])
async def test_a_yes_without_what_was_asked_for_costs_no_answer(method: str, body: Any) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        head = peer.say(GENERAL, BEN, "The printer is broken.")
        await peer.heard()
        peer.says(method, body)
        peer.say(GENERAL, ANN, f"{MENTION} {ASKED}", thread_ts=head)
        await settled(peer, desk)
        await until(lambda: len(peer.world.replies(GENERAL, head)) == 1)


async def test_a_post_whose_answer_names_no_message_is_looked_for() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.says("chat.postMessage", {"ok": True})  # nobody knows whether it was posted
        ts = peer.say(GENERAL, ANN, f"{MENTION} {ASKED}")
        await settled(peer, desk)
        await until(lambda: len(peer.world.replies(GENERAL, ts)) == 1)


@pytest.mark.parametrize("fault", [Fault.RESET, Fault.SERVER_ERROR, Fault.GARBAGE])
async def test_a_socket_whose_next_address_is_not_told_is_opened_all_the_same(
    fault: Fault,
) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.fails("apps.connections.open", fault)
        await peer.sockets.close()
        ts = peer.say(GENERAL, ANN, f"{MENTION} {ASKED}")
        await settled(peer, desk)
        assert len(peer.world.replies(GENERAL, ts)) == 1
