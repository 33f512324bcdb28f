"""The Slack adapter at work in several workspaces, and a browser that installs it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from adapters.slack.app import SlackPlatform, open_slack
from adapters.slack.config import REDIRECT_PATH, InstallConfig, SlackConfig
from rag_core.conversation.key import Platform
from tests.fakes.installations import MemoryInstallations
from tests.fakes.markers import MemoryMarkers
from tests.fakes.slack_desk import FakeDesk
from tests.fakes.slack_house import config_for, owned, parts_for, served, until
from tests.fakes.tenants import slack_admissions, trusting
from tests.peers.slack_cloud import ACME, BETA, CLIENT_ID, CLIENT_SECRET, SlackCloud
from tests.peers.slack_sender import SIGNING_SECRET


class Doors:
    """One address on loopback with all the doors of a platform, opened before it."""

    def __init__(self) -> None:
        self.platform: SlackPlatform | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert self.platform is not None
        await self.platform.doors[scope["path"]](scope, receive, send)


class Browser:
    """Somebody's browser: keeps cookies, is sent to Slack and back."""

    def __init__(self, base: str, cloud: SlackCloud) -> None:
        self.base = base
        self._cloud = cloud
        self.client = httpx.AsyncClient()

    async def begins(self) -> str:
        """Where the page sends the browser: to Slack."""
        answer = await self.client.get(f"{self.base}/slack/install")
        assert answer.status_code == 302
        return answer.headers["location"]

    async def goes(self, address: str) -> httpx.Response:
        return await self.client.get(address)

    async def installs(self, team: str, **how: bool) -> httpx.Response:
        return await self.goes(self._cloud.decides(await self.begins(), team, **how))


@dataclass(frozen=True)
class AtWork:
    """What a test looks at."""

    platform: SlackPlatform
    browser: Browser
    installations: MemoryInstallations


@asynccontextmanager
async def workspaces_at_work(
    cloud: SlackCloud,
    desk: FakeDesk,
    *,
    installations: MemoryInstallations | None = None,
    over: str = "socket",
    parts: dict[str, Any] | None = None,
    slack: dict[str, Any] | None = None,
    **install: Any,
) -> AsyncIterator[AtWork]:
    kept = installations if installations is not None else MemoryInstallations()
    doors = Doors()
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(served(doors))
        base = address.removesuffix("/slack/events")
        cloud.redirect_uri = base + REDIRECT_PATH
        config = configured(cloud, base, over=over, slack=slack or {}, **install)
        both = slack_admissions(trusting(Platform.SLACK, ACME, BETA))
        own = {"installations": kept, "markers": MemoryMarkers(), "admissions": both}
        handed = parts_for(desk, **own | (parts or {}))
        platform = await stack.enter_async_context(open_slack(config, handed))
        doors.platform = platform
        await stack.enter_async_context(owned(platform.run()))
        await stack.enter_async_context(owned(desk.work(platform)))
        if over == "http":
            cloud.sends_to(address)
        await until(lambda: platform.is_ready)
        browser = Browser(base, cloud)
        async with browser.client:
            yield AtWork(platform, browser, kept)


def configured(
    cloud: SlackCloud, base: str, *, over: str, slack: dict[str, Any], **install: Any
) -> SlackConfig:
    fields: dict[str, Any] = {
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "public_url": base,
        "look_seconds": 0.1,
        "doubt_seconds": 0.3,
        "doubt_pause": 0.05,
    }
    way: dict[str, Any] = (
        {"app_token": None, "signing_secret": SIGNING_SECRET} if over == "http" else {}
    )
    return config_for(cloud, bot_token="", install=InstallConfig(**fields | install), **way | slack)
