"""The library's way to answer interactions, at the configured address and with a bound."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
from discord.http import Route
from discord.webhook.async_ import AsyncWebhookAdapter

from adapters.discord.config import DiscordConfig


class AddressedWebhooks(AsyncWebhookAdapter):
    """Leads the calls that carry an interaction's token to the address of the settings."""

    def __init__(self, config: DiscordConfig) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's
        self._api_base = config.api_base
        self._seconds = config.request_seconds

    async def request(self, route: Route, session: aiohttp.ClientSession, **options: Any) -> Any:
        if route.url.startswith(Route.BASE):
            route.url = self._api_base + route.url.removeprefix(Route.BASE)
        async with asyncio.timeout(self._seconds):
            return await super().request(route, session, **options)
