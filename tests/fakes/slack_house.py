"""The Slack adapter at work: the real one against a loopback Slack, with a desk of the test's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Protocol

import uvicorn

from adapters.slack.app import SlackPlatform, open_slack
from adapters.slack.assembly import SlackParts
from adapters.slack.config import SlackConfig
from tests.fakes.markers import MemoryMarkers
from tests.fakes.ratings import Ratings
from tests.fakes.slack_desk import FakeDesk
from tests.fakes.tenants import slack_admissions
from tests.peers.slack import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, SlackPeer


class HasBase(Protocol):
    """A stand-in, as far as its address goes."""

    base: str


def config_for(peer: HasBase, **changes: Any) -> SlackConfig:
    fields: dict[str, Any] = {
        "bot_token": BOT_TOKEN,
        "app_token": APP_TOKEN,
        "api_base": peer.base,
        "request_seconds": 1.0,
        "ping_seconds": 1.0,
        "post_seconds": 0.0,
        "retry_seconds": 0.05,
        "write_seconds": 0.03,
        "longest_away": 1e9,
    }
    return SlackConfig(**fields | changes)


def parts_for(desk: FakeDesk, **changes: Any) -> SlackParts:
    """What the house hands in: the test's desk, and what the test does not care about."""
    fields: dict[str, Any] = {
        "desk": desk,
        "answers": desk,
        "markers": MemoryMarkers(),
        "admissions": slack_admissions(),
        "feedback": Ratings(),
    }
    return SlackParts(**fields | changes)


@asynccontextmanager
async def slack_at_work(
    peer: SlackPeer,
    desk: FakeDesk,
    *,
    markers: MemoryMarkers | None = None,
    parts: Mapping[str, Any] | None = None,
    over: str = "socket",
    **changes: Any,
) -> AsyncIterator[SlackPlatform]:
    """A platform that listens, over a socket or over HTTP, and a desk that answers."""
    kept = markers if markers is not None else MemoryMarkers()
    handed = parts_for(desk, **{"markers": kept, **(parts or {})})
    if over == "http":
        changes |= {"app_token": None, "signing_secret": SIGNING_SECRET}
    async with AsyncExitStack() as stack:
        platform = await stack.enter_async_context(open_slack(config_for(peer, **changes), handed))
        await stack.enter_async_context(owned(platform.run()))
        await stack.enter_async_context(owned(desk.work(platform)))
        if over == "http":
            peer.sends_to(await stack.enter_async_context(served(platform.events)))
        await until(lambda: platform.is_ready)
        yield platform


@asynccontextmanager
async def owned(work: Any) -> AsyncIterator[None]:
    """Work that goes on until the block ends, and must not end before."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        [end] = await asyncio.gather(task, return_exceptions=True)
    assert isinstance(end, asyncio.CancelledError), end


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """An ASGI app on loopback; yields its address."""
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, lifespan="off", log_config=None)
    )
    task = asyncio.create_task(server.serve())
    try:
        await until(lambda: server.started)
        host, port = server.servers[0].sockets[0].getsockname()[:2]
        yield f"http://{host}:{port}/slack/events"
    finally:
        server.should_exit = True
        await task


async def until(condition: Callable[[], bool], *, at_most: float = 10.0) -> None:
    """Wait for something that must happen soon."""
    async with asyncio.timeout(at_most):
        while not condition():  # noqa: ASYNC110 - the peer is outside, it sets no event
            await asyncio.sleep(0.005)


async def settled(peer: SlackPeer, desk: FakeDesk, *, at_most: float = 15) -> None:
    """Until all that was said is heard, answered and heard again as echoes."""
    async with asyncio.timeout(at_most):
        await peer.heard()
        await desk.idle.wait()
        await peer.heard()
