"""The Slack adapter at work: the real one against a loopback Slack, with a desk of the test's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from adapters.platform import ChatPlatform
from adapters.slack.app import open_slack
from adapters.slack.config import SlackConfig
from tests.fakes.markers import MemoryMarkers
from tests.fakes.slack_desk import FakeDesk
from tests.peers.slack import APP_TOKEN, BOT_TOKEN, SlackPeer


def config_for(
    peer: SlackPeer, *, bot_token: str = BOT_TOKEN, app_token: str = APP_TOKEN
) -> SlackConfig:
    return SlackConfig(
        bot_token=bot_token,
        app_token=app_token,
        api_base=peer.base,
        request_seconds=1.0,
        ping_seconds=1.0,
    )


@asynccontextmanager
async def slack_at_work(
    peer: SlackPeer, desk: FakeDesk, *, markers: MemoryMarkers | None = None
) -> AsyncIterator[ChatPlatform]:
    """A platform that listens and a desk that answers, until the block ends."""
    kept = markers if markers is not None else MemoryMarkers()
    async with open_slack(config_for(peer), desk=desk, markers=kept) as platform:
        tasks = [asyncio.create_task(platform.run()), asyncio.create_task(desk.work(platform))]
        try:
            await until(lambda: platform.is_ready or any(task.done() for task in tasks))
            yield platform
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            faults = [end for end in ends if not isinstance(end, asyncio.CancelledError)]
        assert not faults, faults


async def until(condition: Callable[[], bool], *, at_most: float = 10.0) -> None:
    """Wait for something that must happen soon."""
    async with asyncio.timeout(at_most):
        while not condition():  # noqa: ASYNC110 - the peer is outside, it sets no event
            await asyncio.sleep(0.005)
