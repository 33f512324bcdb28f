"""A client of the Discord stand-in with no library in between."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.peers.discord import TOKEN, DiscordPeer, open_discord_peer
from tests.peers.discord_world import Channel

HEADERS = {"Authorization": f"Bot {TOKEN}", "User-Agent": "DiscordBot (tests, 1)"}


class Caller:
    """A client without a library between it and the stand-in."""

    def __init__(self, peer: DiscordPeer, http: aiohttp.ClientSession) -> None:
        self.peer = peer
        self.http = http
        self.channel = peer.world.text_channel(peer.world.guild())
        self.alice = peer.world.person("alice")

    async def call(self, method: str, path: str, body: Any = None, **changes: Any) -> Any:
        headers = {**HEADERS, **changes.pop("headers", {})}
        data = None if body is None else json.dumps(body)
        headers |= {} if body is None else {"Content-Type": "application/json"}
        url = self.peer.api_base + path
        async with self.http.request(method, url, data=data, headers=headers, **changes) as answer:
            text = await answer.text()
            return answer.status, json.loads(text) if text else None, answer.headers

    async def send(self, channel: Channel | None = None, **body: Any) -> Any:
        target = channel or self.channel
        return await self.call("POST", f"/channels/{target.id}/messages", body)


@asynccontextmanager
async def calling(**options: Any) -> AsyncIterator[Caller]:
    async with open_discord_peer(**options) as peer, aiohttp.ClientSession() as http:
        yield Caller(peer, http)
        peer.forgive()
