"""A request that is cancelled in a global rate limit blocks all later ones: plain discord.py,
loopback only.

Exits with 0 where the fault shows, with 1 where it does not."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import discord
from aiohttp import web
from discord.http import HTTPClient, Route

PAUSE_SECONDS, PATIENCE_SECONDS = 0.5, 3.0


class Peer:
    """Answers one request with a global rate limit, and every later one at once."""

    def __init__(self) -> None:
        self.requests = 0
        self.limited = asyncio.Event()

    async def me(self, _request: web.Request) -> web.Response:
        user = {"id": "1", "username": "bot", "discriminator": "0", "avatar": None}
        return answer(user)

    async def messages(self, _request: web.Request) -> web.Response:
        self.requests += 1
        if self.requests > 1:
            return answer([])
        self.limited.set()
        told = {"message": "slow down", "retry_after": PAUSE_SECONDS, "global": True}
        return answer(told, status=429, headers={"Via": "1.1 peer"})


def answer(document: object, **options: Any) -> web.Response:
    """As Discord answers: with a charset the library would not read it as JSON."""
    body = json.dumps(document).encode()
    return web.Response(body=body, content_type="application/json", **options)


async def main() -> int:
    peer = Peer()
    app = web.Application()
    app.router.add_get("/users/@me", peer.me)
    app.router.add_get("/channels/{channel}/messages", peer.messages)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    Route.BASE = f"http://{host}:{port}"
    client = HTTPClient(asyncio.get_running_loop())
    try:
        await client.static_login("token")
        first = asyncio.create_task(client.logs_from(1, 1))
        await peer.limited.wait()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while client._global_over.is_set():  # the library has not read the answer yet
                await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await client.logs_from(2, 1)
        except TimeoutError:
            print(f"discord.py {discord.__version__}: a request that met a global limit of")
            print(
                f"{PAUSE_SECONDS} s was cancelled, and {PATIENCE_SECONDS} s later no other was sent"
            )
            return 0
    finally:
        await client.close()
        await runner.cleanup()
    print(f"discord.py {discord.__version__}: the next request was sent; no fault")
    return 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
