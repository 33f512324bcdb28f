"""A bucket with room refuses requests because its window is long: plain discord.py, loopback only.

Exits with 0 where the fault shows, with 1 where it does not."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import discord
from aiohttp import web
from discord.http import HTTPClient, Route

LIMIT, WINDOW_SECONDS, LONGEST_WAIT_SECONDS = 5, 300, 30.0


class Peer:
    """One route with a bucket of five requests in 300 seconds."""

    def __init__(self) -> None:
        self.requests = 0

    async def me(self, _request: web.Request) -> web.Response:
        user = {"id": "1", "username": "bot", "discriminator": "0", "avatar": None}
        return answer(user)

    async def messages(self, _request: web.Request) -> web.Response:
        self.requests += 1
        headers = {
            "X-RateLimit-Bucket": "messages",
            "X-RateLimit-Limit": str(LIMIT),
            "X-RateLimit-Remaining": str(LIMIT - self.requests),
            "X-RateLimit-Reset-After": str(WINDOW_SECONDS),
        }
        return answer([], headers=headers)


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
    client = HTTPClient(asyncio.get_running_loop(), max_ratelimit_timeout=LONGEST_WAIT_SECONDS)
    try:
        await client.static_login("token")
        for number in range(1, LIMIT + 1):
            try:
                await client.logs_from(1, 1)
            except discord.RateLimited as error:
                left = LIMIT - peer.requests
                print(f"discord.py {discord.__version__}: request {number} was refused with")
                print(f"RateLimited(retry_after={error.retry_after:.0f}); {left} of {LIMIT} left")
                return 0
    finally:
        await client.close()
        await runner.cleanup()
    print(f"discord.py {discord.__version__}: all {LIMIT} requests were sent; no fault")
    return 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
