"""The gateway of the Discord stand-in keeps the protocol, and closes on who does not."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from tests.peers.discord import TOKEN
from tests.peers.discord_caller import Caller, calling
from tests.peers.discord_gateway import Session, Socket

INTENTS = 1 | 1 << 9 | 1 << 12 | 1 << 15


@asynccontextmanager
async def gateway(caller: Caller, query: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    async with caller.http.ws_connect(f"{caller.peer.gateway_url}?{query}") as ws:
        yield ws


def identify(**changes: Any) -> dict[str, Any]:
    data = {"token": TOKEN, "intents": INTENTS, "properties": {}, **changes}
    return {"op": 2, "d": data}


async def closed_with(ws: aiohttp.ClientWebSocketResponse) -> int | None:
    while not ws.closed:
        await ws.receive()
    return ws.close_code


async def test_the_gateway_speaks_text_where_no_compression_was_asked_for() -> None:
    async with calling() as caller, gateway(caller, "v=10&encoding=json") as ws:
        assert (await ws.receive_json())["op"] == 10
        await ws.send_json({"op": 1, "d": None})
        assert (await ws.receive_json())["op"] == 11
        await ws.send_json(identify())
        ready = await ws.receive_json()
        assert (ready["t"], ready["s"]) == ("READY", 1)
        assert (await ws.receive_json())["t"] == "GUILD_CREATE"


async def test_the_gateway_speaks_one_zlib_stream_where_that_was_asked_for() -> None:
    query = "v=10&encoding=json&compress=zlib-stream"
    async with calling() as caller, gateway(caller, query) as ws:
        unpack, packed = zlib.decompressobj(), b""
        while not packed.endswith(b"\x00\x00\xff\xff"):
            packed += await ws.receive_bytes()
        assert json.loads(unpack.decompress(packed))["op"] == 10


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (identify(token="wrong"), 4004),
        (identify(intents=INTENTS | 1 << 8), 4014),
        ({"op": 2, "d": {"token": TOKEN}}, 4013),
        ({"op": 8, "d": {}}, 4003),
    ],
)
async def test_the_gateway_closes_on_a_wrong_identify(frame: dict[str, Any], code: int) -> None:
    async with calling() as caller, gateway(caller, "v=10&encoding=json") as ws:
        await ws.send_json(frame)
        assert await closed_with(ws) == code
        caller.peer.gateway.complaints.clear()


async def test_the_gateway_takes_one_identify_and_not_too_many_in_a_row() -> None:
    async with calling(identify_gap=5.0) as caller:
        async with gateway(caller, "v=10&encoding=json") as ws:
            await ws.send_json(identify())
            await ws.send_json(identify())
            assert await closed_with(ws) == 4005
        async with gateway(caller, "v=10&encoding=json") as ws:
            await ws.receive_json()
            await ws.send_json(identify())
            assert await ws.receive_json() == {"op": 9, "d": False, "s": None, "t": None}
        assert len(caller.peer.gateway.complaints) == 2
        caller.peer.gateway.complaints.clear()


async def resume_of_a_session(ws: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
    """Begin one; what resumes it where it stands now."""
    await ws.receive_json()
    await ws.send_json(identify())
    session = (await ws.receive_json())["d"]["session_id"]
    seq = (await ws.receive_json())["s"]
    return {"op": 6, "d": {"token": TOKEN, "session_id": session, "seq": seq}}


async def test_a_resume_repeats_exactly_what_was_missed() -> None:
    async with calling() as caller:
        async with gateway(caller, "v=10&encoding=json") as ws:
            resume = await resume_of_a_session(ws)
        await caller.peer.until(lambda: not caller.peer.gateway.connected)
        await caller.peer.say(caller.channel, caller.alice, "meanwhile")
        async with gateway(caller, "v=10&encoding=json") as ws:
            await ws.receive_json()
            await ws.send_json(resume)
            missed, resumed = await ws.receive_json(), await ws.receive_json()
            assert (missed["t"], missed["d"]["content"]) == ("MESSAGE_CREATE", "meanwhile")
            assert resumed["t"] == "RESUMED"
            assert not caller.peer.gateway.told_again


async def test_it_is_known_what_a_resume_repeats() -> None:
    async with calling() as caller:
        async with gateway(caller, "v=10&encoding=json") as ws:
            resume = await resume_of_a_session(ws)
            await caller.peer.say(caller.channel, caller.alice, "seen")
            seen = (await ws.receive_json())["d"]["id"]
        await caller.peer.until(lambda: not caller.peer.gateway.connected)
        async with gateway(caller, "v=10&encoding=json") as ws:
            await ws.receive_json()
            await ws.send_json(resume)
            assert (await ws.receive_json())["d"]["id"] == seen
        assert caller.peer.gateway.told_again == {seen: 1}


@pytest.mark.parametrize("mentioned", [True, False])
async def test_without_the_content_intent_only_mentions_have_text(mentioned: bool) -> None:
    async with calling() as caller, gateway(caller, "v=10&encoding=json") as ws:
        await ws.receive_json()
        await ws.send_json(identify(intents=INTENTS & ~(1 << 15)))
        for _ in range(2):
            await ws.receive_json()
        await caller.peer.say(caller.channel, caller.alice, "hello", mentions_bot=mentioned)
        heard = (await ws.receive_json())["d"]["content"]
        assert heard.endswith("hello") == mentioned


class DeadSocket(Socket):
    """A connection whose client was killed a moment ago."""

    def __init__(self) -> None: ...

    async def send(self, op: int, data: Any, *, seq: int | None = None, kind: str = "") -> None:
        raise ConnectionResetError


async def test_what_a_killed_client_did_not_hear_is_kept_for_its_return() -> None:
    session = Session("s1", INTENTS, socket=DeadSocket())
    await session.dispatch("MESSAGE_CREATE", {"id": "1"})
    assert session.events == [(1, "MESSAGE_CREATE", {"id": "1"})]
