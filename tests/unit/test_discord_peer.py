"""The Discord stand-in refuses what Discord refuses: a lenient one would prove nothing."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.peers.discord import SEND, TOKEN, open_discord_peer
from tests.peers.discord_caller import HEADERS, Caller, calling
from tests.peers.discord_limits import Allowance, Trouble

WRONG_MESSAGES: list[dict[str, Any]] = [
    {"content": "x" * 2_001},
    {"content": "  \n"},
    {},
    {"content": "a", "nonce": "n" * 26},
    {"content": "a", "enforce_nonce": True},
    {"content": "a", "flags": 1 << 6},
    {"content": "a", "allowed_mentions": {"parse": ["all"]}},
    {"content": "a", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
    {"embeds": [{"title": "t"}] * 11},
    {"embeds": [{"description": "d" * 4_097}]},
    {"embeds": [{"description": "d" * 4_000}, {"description": "d" * 2_001}]},
    {"content": "a", "components": [{"type": 2, "label": "no row"}]},
    {"content": "a", "components": [{"type": 1, "components": []}]},
    {
        "content": "a",
        "components": [
            {"type": 1, "components": [{"type": 2, "label": "l" * 81, "custom_id": "c"}]}
        ],
    },
    {
        "content": "a",
        "components": [
            {"type": 1, "components": [{"type": 2, "label": "l", "custom_id": "c" * 101}]}
        ],
    },
    {
        "content": "a",
        "components": [
            {"type": 1, "components": [{"type": 2, "style": 5, "url": "file:" + "///x"}]}
        ],
    },
    {"content": "a", "flags": 1 << 15, "components": [{"type": 10, "content": "b"}]},
    {"flags": 1 << 15, "components": [{"type": 10, "content": "b" * 4_001}]},
    {"flags": 1 << 15, "components": [{"type": 10, "content": "b"}] * 41},
    {"content": "a", "message_reference": {"message_id": "1"}},
]


@pytest.mark.parametrize("body", WRONG_MESSAGES)
async def test_a_message_outside_its_limits_is_refused_and_remembered(body: dict[str, Any]) -> None:
    async with calling() as caller:
        status, answer, _ = await caller.send(**body)
        assert status == 400
        assert answer["code"] in {50035, 50006}
        assert len(caller.peer.refusals) == 1
        assert caller.peer.seen_in(caller.channel.id) == []


async def test_a_test_that_provoked_a_refusal_without_saying_so_fails() -> None:
    with pytest.raises(AssertionError, match="50006"):
        async with open_discord_peer() as peer, aiohttp.ClientSession() as http:
            await Caller(peer, http).send(content="")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bot wrong"}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"User-Agent": "curl"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
async def test_a_request_with_wrong_headers_is_refused(
    headers: dict[str, str], status: int
) -> None:
    async with calling() as caller:
        url = f"{caller.peer.api_base}/channels/{caller.channel.id}/messages"
        known = {**HEADERS, "Content-Type": "application/json", **headers}
        async with caller.http.post(url, data=b'{"content": "a"}', headers=known) as answer:
            assert answer.status == status


async def test_an_unknown_route_channel_or_message_is_not_found() -> None:
    async with calling() as caller:
        for path, code in (
            ("/nothing", 0),
            ("/channels/1", 10003),
            (f"/channels/{caller.channel.id}/messages/1", 10008),
        ):
            status, answer, _ = await caller.call("GET", path)
            assert (status, answer["code"]) == (404, code)


async def test_the_same_nonce_is_the_same_message_in_its_channel_only() -> None:
    async with calling() as caller:
        body = {"content": "a", "nonce": "k", "enforce_nonce": True}
        _, first, _ = await caller.send(**body)
        _, again, _ = await caller.send(**{**body, "content": "b"})
        _, loose, _ = await caller.send(content="a", nonce="k")
        other = caller.peer.world.text_channel(caller.peer.world.guild())
        _, elsewhere, _ = await caller.send(other, **body)
        assert first["id"] == again["id"]
        assert len({first["id"], loose["id"], elsewhere["id"]}) == 3


async def test_history_tells_no_nonce_and_takes_one_edge() -> None:
    async with calling() as caller:
        path = f"/channels/{caller.channel.id}/messages"
        for number in range(5):
            await caller.send(content=str(number), nonce=str(number), enforce_nonce=True)
        _, newest, _ = await caller.call("GET", f"{path}?limit=2")
        assert [message["content"] for message in newest] == ["4", "3"]
        assert all("nonce" not in message for message in newest)
        _, after, _ = await caller.call("GET", f"{path}?limit=2&after={newest[-1]['id']}")
        assert [message["content"] for message in after] == ["4"]
        assert (await caller.call("GET", f"{path}?limit=101"))[0] == 400
        assert (await caller.call("GET", f"{path}?before=1&after=1"))[0] == 400


@pytest.mark.parametrize(
    "body", [{"name": ""}, {"name": "x" * 101}, {"name": "a", "auto_archive_duration": 7}]
)
async def test_a_thread_outside_its_limits_is_refused(body: dict[str, Any]) -> None:
    async with calling() as caller:
        note = await caller.peer.say(caller.channel, caller.alice, "hello")
        path = f"/channels/{caller.channel.id}/messages/{note.id}/threads"
        assert (await caller.call("POST", path, body))[0] == 400


async def test_a_message_has_one_thread_and_a_thread_has_none() -> None:
    async with calling() as caller:
        note = await caller.peer.say(caller.channel, caller.alice, "hello")
        path = f"/channels/{caller.channel.id}/messages/{note.id}/threads"
        status, thread, _ = await caller.call("POST", path, {"name": "one"})
        assert (status, thread["type"], thread["id"]) == (201, 11, str(note.id))
        assert (await caller.call("POST", path, {"name": "two"}))[1]["code"] == 160004
        inner = await caller.peer.say(caller.peer.world.channels[note.id], caller.alice, "inner")
        below = f"/channels/{thread['id']}/messages/{inner.id}/threads"
        assert (await caller.call("POST", below, {"name": "three"}))[1]["code"] == 50024


async def test_only_its_own_messages_can_be_edited() -> None:
    async with calling() as caller:
        note = await caller.peer.say(caller.channel, caller.alice, "hello")
        path = f"/channels/{caller.channel.id}/messages"
        assert (await caller.call("PATCH", f"{path}/{note.id}", {"content": "x"}))[0] == 403
        _, own, _ = await caller.send(content="mine")
        assert (await caller.call("PATCH", f"{path}/{own['id']}", {"content": ""}))[0] == 400
        await caller.call("PATCH", f"{path}/{own['id']}", {"content": "better"})
        assert caller.peer.seen_in(caller.channel.id)[0].content == "better"
        assert (await caller.call("DELETE", f"{path}/{own['id']}"))[0] == 204
        assert caller.peer.seen_in(caller.channel.id) == []


async def test_a_message_pings_whom_it_names_unless_told_otherwise() -> None:
    async with calling() as caller:
        text = f"@everyone <@{caller.alice.id}>"
        await caller.send(content=text)
        await caller.send(content=text, allowed_mentions={"parse": []})
        loud, quiet = caller.peer.seen_in(caller.channel.id)
        assert loud.pinged == ("everyone", str(caller.alice.id))
        assert quiet.pinged == ()


async def test_a_bucket_that_is_empty_says_when_it_is_full_again() -> None:
    async with calling(sends=Allowance(2, 0.2)) as caller:
        answers = [await caller.send(content="a") for _ in range(3)]
        assert [status for status, _, _ in answers] == [200, 200, 429]
        assert answers[1][2]["X-RateLimit-Remaining"] == "0"
        assert 0 < answers[2][1]["retry_after"] <= 0.2
        assert answers[2][2]["Via"]
        assert caller.peer.buckets.refused == 1


async def test_troubles_come_once_each_and_only_where_they_were_asked_for() -> None:
    async with calling() as caller:
        caller.peer.troubles.on(SEND, Trouble(status=502, takes_effect=True))
        caller.peer.troubles.on(SEND, Trouble(status=502))
        assert [(await caller.send(content="a"))[0] for _ in range(3)] == [502, 502, 200]
        assert len(caller.peer.seen_in(caller.channel.id)) == 2


async def test_commands_are_checked_before_they_are_kept() -> None:
    async with calling() as caller:
        path = f"/applications/{caller.peer.world.bot.id}/commands"
        good = {"name": "ask", "description": "Ask the documents"}
        assert (await caller.call("PUT", path, [good]))[0] == 200
        for wrong in (
            [{"name": "Ask me", "description": "d"}],
            [{"name": "ask", "description": ""}],
            [good, good],
            [{"name": f"c{n}", "description": "d"} for n in range(101)],
            [{"name": f"Menu {n}", "type": 3} for n in range(16)],
            {"name": "ask"},
        ):
            assert (await caller.call("PUT", path, wrong))[0] == 400
        assert caller.peer.routes.commands[path] == [good]
