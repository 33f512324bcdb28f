"""discord.py's client, at the configured addresses and with the least intents."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import aiohttp
import discord

from adapters.discord.config import DiscordConfig
from adapters.discord.http import AddressedHTTP
from adapters.discord.webhooks import AddressedWebhooks

log = logging.getLogger(__name__)

LONGEST_RATE_LIMIT_SECONDS = 30.0
"""Longer waits are handed back, so that the desk can put the answer aside."""
CLOSING_SECONDS = 5.0

Channel = discord.abc.GuildChannel | discord.abc.PrivateChannel | discord.Thread


class Audience(Protocol):
    """Who is told what happens on Discord."""

    async def heard(self, message: discord.Message) -> None: ...

    async def edited(self, message: discord.Message) -> None: ...

    async def deleted(self, channel: Channel, message_ids: Iterable[int]) -> None: ...

    async def used(self, interaction: discord.Interaction) -> None: ...

    async def connected(self, *, resumed: bool) -> None:
        """A session has begun, or goes on after a break."""
        ...


def minimal_intents() -> discord.Intents:
    """Servers with their channels, messages there and in private, and what messages say."""
    return discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)


class Connection(discord.Client):
    """Keeps the gateway open and hands on what happens; owns the tasks that this makes."""

    def __init__(
        self,
        config: DiscordConfig,
        *,
        intents: discord.Intents,
        audience: Audience,
    ) -> None:
        self._config = config
        self._audience = audience
        self.webhooks = AddressedWebhooks(config)
        self._hearing: set[asyncio.Task[Any]] = set()
        self.is_logged_in = False
        self.is_connected = False
        # Said once a process, of something that we never do.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            intents=intents,
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            guild_ready_timeout=config.guild_ready_seconds,
            max_ratelimit_timeout=LONGEST_RATE_LIMIT_SECONDS,
        )

    def _get_state(self, **options: Any) -> Any:
        # The one place before the state is made where the library lets its HTTP client be ours.
        self.http = AddressedHTTP(
            self._config,
            self.loop,
            unsync_clock=not self.http.use_clock,
            max_ratelimit_timeout=LONGEST_RATE_LIMIT_SECONDS,
        )
        return super()._get_state(**options)

    async def log_in(self) -> None:
        """Tell Discord who we are; after a failure it may be tried again."""
        if self.is_logged_in:
            return
        try:
            await self.login(self._config.token)
        except BaseException:
            await self.addressed.reset()
            raise
        self.is_logged_in = True

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        if not initial:
            await asyncio.sleep(self._config.identify_seconds)

    async def on_connect(self) -> None:
        self.is_connected = True

    async def on_resumed(self) -> None:
        self.is_connected = True
        log.info("Discord session resumed")
        with self._owned_task():
            await self._audience.connected(resumed=True)

    async def on_disconnect(self) -> None:
        self.is_connected = False

    async def on_ready(self) -> None:
        log.info("Discord is ready", extra={"servers": len(self.guilds)})
        with self._owned_task():
            await self._audience.connected(resumed=False)

    async def on_message(self, message: discord.Message) -> None:
        with self._owned_task():
            await self._audience.heard(await self._placed(message))

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        with self._owned_task():
            await self._audience.edited(await self._placed(event.message))

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        await self._deleted(event.channel_id, event.guild_id, {event.message_id})

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        await self._deleted(event.channel_id, event.guild_id, event.message_ids)

    async def _deleted(
        self, channel_id: int, guild_id: int | None, message_ids: Iterable[int]
    ) -> None:
        with self._owned_task():
            if guild_id is None:
                channel: Channel | None = discord.DMChannel._from_message(
                    self._connection, channel_id
                )
            else:
                channel = self.get_channel(channel_id) or await self._fetched(channel_id)
            if channel is not None:
                await self._audience.deleted(channel, message_ids)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        with self._owned_task():
            await self._audience.used(interaction)

    @property
    def addressed(self) -> AddressedHTTP:
        assert isinstance(self.http, AddressedHTTP)
        return self.http

    @property
    def session(self) -> aiohttp.ClientSession:
        """The library's own, which it shows to nobody."""
        session: aiohttp.ClientSession = self.http._HTTPClient__session  # type: ignore[attr-defined]
        return session

    @contextmanager
    def _owned_task(self) -> Iterator[None]:
        """The library begins a task for every event and forgets it; we wait for its end."""
        task = asyncio.current_task()
        assert task is not None
        self._hearing.add(task)
        try:
            yield
        finally:
            self._hearing.discard(task)

    async def _placed(self, message: discord.Message) -> discord.Message:
        """The message with its channel: a thread that slept may be unknown to us."""
        if isinstance(message.channel, discord.PartialMessageable):
            found = await self._fetched(message.channel.id)
            message.channel = found or message.channel  # type: ignore[assignment]
        return message

    async def _fetched(self, channel_id: int) -> Channel | None:
        try:
            return await self.fetch_channel(channel_id)
        except (discord.DiscordException, OSError) as error:
            log.warning(
                "what happened in an unknown channel is left alone",
                extra={"channel_id": channel_id, "cause": type(error).__name__},
            )
            return None

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        log.exception("a Discord event failed by a defect", extra={"event": event_method})

    async def close(self) -> None:
        """Let what was heard reach the desk, then hang up."""
        waiting = self._hearing - {asyncio.current_task()}
        if waiting:
            await asyncio.wait(waiting, timeout=CLOSING_SECONDS)
        await super().close()
