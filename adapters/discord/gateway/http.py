"""The library's HTTP client, at the configured addresses and with a bound on every request."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

import aiohttp
from discord.errors import NotFound
from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient, Ratelimit, Route
from discord.utils import MISSING
from yarl import URL

from adapters.discord.config import DiscordConfig
from adapters.discord.gateway import tries
from adapters.discord.gateway.allowance import Allowance
from adapters.discord.gateway.errors import note_answer, seconds_told
from adapters.discord.gateway.turns import Turns, urgency
from adapters.discord.gateway.untold import PERSON, whole_application, whole_channel

CLOSE_SECONDS = 2.0
"""How long to wait for the other side's good-bye; the library would wait half a minute."""
EDIT = ("PATCH", "/channels/{channel_id}/messages/{message_id}")


class Pace:
    """Keeps a least time between one event and the next."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = 0.0

    async def wait(self) -> None:
        now = monotonic()
        pause = max(0.0, self._next - now)
        self._next = now + pause + self._seconds
        await asyncio.sleep(pause)


class AddressedHTTP(HTTPClient):
    """Leads every call to the addresses of the settings.

    The library keeps its addresses in class variables; changing those would move every other
    client of the process too."""

    def __init__(self, config: DiscordConfig, *args: Any, **options: Any) -> None:
        super().__init__(*args, http_trace=self._trace(), **options)
        self._api_base = config.api_base
        self._gateway = URL(config.gateway_url)
        self._connects = Pace(config.connect_seconds)
        self.turns = Turns()
        base = URL(config.api_base).path
        self._uncounted = (f"{base}/interactions/", f"{base}/webhooks/")
        """Answers to interactions have three seconds, and no limit but their own."""
        self._timeout = aiohttp.ClientTimeout(total=config.request_seconds)
        self._not_before = 0.0
        """By the loop's clock: until then Discord has told some request to wait."""

    async def request(self, route: Route, **options: Any) -> Any:
        if route.url.startswith(Route.BASE):
            route.url = self._api_base + route.url.removeprefix(Route.BASE)
        # The bound is on one attempt: waiting out a rate limit between attempts is not cut short.
        options.setdefault("timeout", self._timeout)
        try:
            return await super().request(route, **options)
        except asyncio.CancelledError:
            self._end_global_pause()
            raise

    def _end_global_pause(self) -> None:
        """In the library the request that met the limit of all ends the pause of all. One that is
        cancelled meanwhile does not, and no request would ever be sent again. So the pause ends
        when Discord said; where it did not say, once no pause can last any longer."""
        if self._global_over.is_set():
            return
        loop = asyncio.get_running_loop()
        longest = loop.time() + (self.max_ratelimit_timeout or 0.0)
        told = self._not_before if self._not_before > loop.time() else longest
        loop.call_at(told, self._global_over.set)

    def get_ratelimit(self, key: str) -> Ratelimit:
        if key not in self._buckets and self.max_ratelimit_timeout is not None:
            self._buckets[key] = Allowance(self.max_ratelimit_timeout)
            self._try_clear_expired_ratelimits()
        return super().get_ratelimit(key)

    async def application_info(self) -> Any:
        """Under its newer name where the older one, which the library uses, is not known."""
        try:
            told = await super().application_info()
        except NotFound:
            told = await self.request(Route("GET", "/applications/@me"))
        return whole_application(told)

    async def static_login(self, token: str) -> Any:
        return {**PERSON, **await super().static_login(token)}

    async def get_channel(self, channel_id: Any) -> Any:
        return whole_channel(await super().get_channel(channel_id))

    def _trace(self) -> aiohttp.TraceConfig:
        """Waits its turn at the last moment, behind all that the library itself waits for."""
        trace = aiohttp.TraceConfig()

        async def wait(
            _session: Any, _context: Any, request: aiohttp.TraceRequestStartParams
        ) -> None:
            if not request.url.path.startswith(self._uncounted):
                await self.turns.wait(urgency.get())

        async def told(_session: Any, _context: Any, end: aiohttp.TraceRequestEndParams) -> None:
            note_answer()
            seconds = seconds_told(end.response.headers) or 0.0
            now = asyncio.get_running_loop().time()
            self._not_before = max(self._not_before, now + seconds)

        trace.on_request_start.append(wait)
        trace.on_request_end.append(told)
        tries.watched_by(trace)
        return trace

    def pause_before_edit(self, channel_id: int) -> float:
        """How long to wait until there is room for two requests again: one for what may be late,
        one for what must not be."""
        route = Route(*EDIT, channel_id=channel_id, message_id=0)
        bucket = self._bucket_hashes.get(route.key, route.key)
        limit = self._buckets.get(f"{bucket}:{route.major_parameters}")
        if limit is None or limit.remaining > 1 or limit.expires is None:
            return 0.0
        return max(0.0, limit.expires - asyncio.get_running_loop().time())

    async def ws_connect(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        await self._connects.wait()
        asked = URL(url)
        if asked.host == DiscordWebSocket.DEFAULT_GATEWAY.host:
            url = str(self._gateway.with_query(asked.query))
        return await self.session.ws_connect(
            url,
            headers={"User-Agent": self.user_agent},
            timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS),
            max_msg_size=0,
            autoclose=False,
            compress=compress,
        )

    @property
    def session(self) -> aiohttp.ClientSession:
        """The library's own, which it shows to nobody."""
        session: aiohttp.ClientSession = getattr(self, "_HTTPClient__session")  # noqa: B009 - mangled
        return session

    async def reset(self) -> None:
        """Forget the session of a log-in that failed, so that the next one can begin."""
        await self.close()
        self.clear()
        self.connector = MISSING
