"""The Discord stand-in takes answers to interactions only as Discord does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.peers.discord_caller import Caller, calling
from tests.peers.discord_interactions import Interaction

ASK = {"name": "ask", "description": "Ask.", "options": [
    {"type": 3, "name": "question", "description": "What?", "required": True, "max_length": 20},
    {"type": 3, "name": "module", "description": "Where?", "autocomplete": True},
]}  # fmt: skip
NO_LOGIN = {"Authorization": "", "User-Agent": "anything"}


@asynccontextmanager
async def with_commands() -> AsyncIterator[Caller]:
    async with calling() as caller:
        bot = caller.peer.world.bot
        await caller.call("PUT", f"/applications/{bot.id}/commands", [ASK])
        yield caller


async def asked(caller: Caller) -> Interaction:
    actions = caller.peer.interactions
    return await actions.slash(caller.channel, caller.alice, "ask", question="Why?")


async def answer(caller: Caller, made: Interaction, kind: int, data: Any = None) -> Any:
    path = f"/interactions/{made.id}/{made.token}/callback?with_response=1"
    body = {"type": kind} | ({} if data is None else {"data": data})
    return await caller.call("POST", path, body, headers=NO_LOGIN)


async def by_token(caller: Caller, made: Interaction, method: str = "POST", **body: Any) -> Any:
    path = f"/webhooks/{caller.peer.world.bot.id}/{made.token}"
    path += "?wait=1" if method == "POST" else "/messages/@original"
    return await caller.call(method, path, body or None, headers=NO_LOGIN)


async def test_an_interaction_is_acknowledged_once_and_within_three_seconds() -> None:
    async with with_commands() as caller:
        made = await asked(caller)
        status, shown, _ = await answer(caller, made, 5, {"flags": 64})
        assert status == 200
        assert shown["interaction"]["response_message_ephemeral"]
        assert (await answer(caller, made, 5))[1]["code"] == 40060
        late = await asked(caller)
        caller.peer.clock.move(3.1)
        assert (await answer(caller, late, 5))[1]["code"] == 10062
        assert late.callback is None


async def test_nothing_is_written_by_token_before_the_acknowledgement_or_after_a_quarter_hour() -> (
    None
):
    async with with_commands() as caller:
        made = await asked(caller)
        assert (await by_token(caller, made, content="early"))[1]["code"] == 10015
        await answer(caller, made, 5)
        assert (await by_token(caller, made, "PATCH", content="there"))[0] == 200
        assert (await by_token(caller, made, content="more"))[0] == 200
        assert made.texts == ["there", "more"]
        caller.peer.clock.move(15 * 60)
        assert (await by_token(caller, made, content="late"))[1]["code"] == 50027
        assert (await by_token(caller, made, "PATCH", content="late"))[1]["code"] == 50027


async def test_what_is_private_stands_in_no_channel_and_cannot_be_made_so_later() -> None:
    async with with_commands() as caller:
        made = await asked(caller)
        await answer(caller, made, 4, {"content": "for you", "flags": 64})
        assert caller.peer.seen_in(caller.channel.id) == []
        assert (await by_token(caller, made, "PATCH", content="x", flags=64))[0] == 400
        assert (await by_token(caller, made, content="for all"))[0] == 200
        assert [n.content for n in caller.peer.seen_in(caller.channel.id)] == ["for all"]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (8, {"choices": []}),  # only for what is being typed
        (7, {"content": "a"}),  # only where there is a message
        (4, {"content": "x" * 2_001}),
        (4, {"content": ""}),
        (5, {"flags": 4}),
        (9, {"title": "t" * 46, "custom_id": "c", "components": [{}]}),
        (9, {"title": "t", "custom_id": "c", "components": []}),
        (1, None),
    ],
)
async def test_an_answer_outside_its_limits_is_refused(kind: int, data: Any) -> None:
    async with with_commands() as caller:
        made = await asked(caller)
        assert (await answer(caller, made, kind, data))[0] == 400
        assert made.callback is None


@pytest.mark.parametrize(
    "choices",
    [[{"name": "a", "value": "a"}] * 26, [{"name": "x" * 101, "value": "a"}], [{"name": ""}]],
)
async def test_choices_have_their_limits(choices: list[dict[str, str]]) -> None:
    async with with_commands() as caller:
        actions = caller.peer.interactions
        typing = await actions.complete(caller.channel, caller.alice, "ask", "module", "a")
        assert (await answer(caller, typing, 5))[0] == 400
        assert (await answer(caller, typing, 8, {"choices": choices}))[0] == 400
        assert (await answer(caller, typing, 8, {"choices": choices[:0]}))[0] == 200


@pytest.mark.parametrize("options", [{}, {"question": "x" * 21}, {"question": "a", "else": "b"}])
async def test_a_client_sends_only_what_a_command_allows(options: dict[str, str]) -> None:
    async with with_commands() as caller:
        with pytest.raises(AssertionError):
            await caller.peer.interactions.slash(caller.channel, caller.alice, "ask", **options)
