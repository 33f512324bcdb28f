"""discord.py's client, at the configured addresses and with the least intents."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from time import time
from typing import Any, Protocol

import aiohttp
import discord

from adapters.discord.config import AUTOMATIC, DiscordConfig, ShardRange
from adapters.discord.gateway.errors import discord_errors
from adapters.discord.gateway.http import AddressedHTTP, Pace
from adapters.discord.gateway.restoring import restore
from adapters.discord.gateway.sessions import IdentifyBudget, SessionMemory
from adapters.discord.gateway.shard import Shard
from adapters.discord.gateway.untold import reading, whole_beginning
from adapters.discord.gateway.webhooks import AddressedWebhooks
from rag_core.errors import UpstreamError
from rag_core.ports import MarkerStore

log = logging.getLogger(__name__)

LONGEST_RATE_LIMIT_SECONDS = 30.0
"""Longer waits are handed back, so that the desk can put the answer aside."""
CLOSING_SECONDS = 5.0

Channel = discord.abc.GuildChannel | discord.abc.PrivateChannel | discord.Thread


class Audience(Protocol):
    """Who is told what happens on Discord."""

    async def joined(self, guild: discord.Guild) -> None:
        """The bot was added to a server."""
        ...

    async def returned(self, guild: discord.Guild, *, missed_since: float) -> bool:
        """Whether all is read that was missed of a server that was away."""
        ...

    async def heard(self, message: discord.Message) -> None: ...

    async def edited(self, message: discord.Message) -> None: ...

    async def deleted(self, channel: Channel, message_ids: Iterable[int]) -> None: ...

    async def used(self, interaction: discord.Interaction) -> None: ...

    async def began(
        self, guilds: Sequence[discord.Guild], *, missed_since: float | None, directs: bool
    ) -> bool:
        """A new session knows these servers; of what happened since then it was told nothing.
        Direct conversations belong to one of several sessions. Whether all of it is read."""
        ...


def minimal_intents() -> discord.Intents:
    """Servers with their channels, messages there and in private, and what messages say."""
    return discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)


class Connection(discord.AutoShardedClient):
    """Keeps the gateway open and hands on what happens; owns the tasks that this makes."""

    def __init__(
        self,
        config: DiscordConfig,
        *,
        intents: discord.Intents,
        audience: Audience,
        markers: MarkerStore,
    ) -> None:
        self._config = config
        self._audience = audience
        self._markers = markers
        self._running: dict[int, Shard] = {}
        self._budget: IdentifyBudget | None = None
        self._identifies = Pace(config.identify_seconds)
        self.webhooks = AddressedWebhooks(config)
        self._hearing: set[asyncio.Task[Any]] = set()
        self._reading: set[asyncio.Task[Any]] = set()
        """What was missed while nobody listened."""
        self._away: dict[int, float] = {}
        """Servers that an outage hides, and since when."""
        self.is_logged_in = False
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
        parsers = self._connection.parsers
        parsers |= {name: reading(name, parse) for name, parse in parsers.items()}
        parsers["READY"] = self._parse_ready

    def _get_state(self, **options: Any) -> Any:
        # The one place before the state is made where the library lets its HTTP client be ours.
        self.http = AddressedHTTP(
            self._config,
            self.loop,
            unsync_clock=not self.http.use_clock,
            max_ratelimit_timeout=LONGEST_RATE_LIMIT_SECONDS,
        )
        return super()._get_state(**options)

    def _parse_ready(self, data: Any) -> None:
        """One that cannot be read is not passed over: without it there is no session."""
        self._connection.parse_ready(whole_beginning(data))

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

    async def connect(self, *, reconnect: bool = True) -> None:
        """Run every shard of ours until cancelled; raises what no shard can recover from."""
        count, ids = await self._shards()
        self.shard_count = self._connection.shard_count = count
        self._connection.shard_ids = ids
        self._budget = self._budget or IdentifyBudget(self._markers, str(self.application_id))
        self._running = {number: self._shard(number, count, self._budget) for number in ids}
        try:
            async with asyncio.TaskGroup() as tasks:
                for shard in self._running.values():
                    tasks.create_task(shard.run())
        except* (discord.ConnectionClosed, discord.PrivilegedIntentsRequired) as failed:
            raise failed.exceptions[0] from None

    async def _shards(self) -> tuple[int, range]:
        """How many there are in all, and which are ours."""
        wanted = self._config.shards
        if isinstance(wanted, ShardRange):
            return wanted.count, range(wanted.first, wanted.last + 1)
        if wanted == AUTOMATIC:
            with discord_errors():
                count, _, _ = await self.http.get_bot_gateway()
            return count, range(count)
        return 1, range(1)

    def _shard(self, number: int, count: int, budget: IdentifyBudget) -> Shard:
        name = f"{self.application_id}:{number}/{count}"
        return Shard(
            number,
            client=self,
            servers=self,
            config=self._config,
            memory=SessionMemory(self._markers, name),
            budget=budget,
            begins=self._identifies.wait,
        )

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Whoever opens a connection has waited already."""

    async def restore(self, guild_ids: Sequence[int]) -> bool:
        """Whether these servers are known again."""
        if self.user is None:
            return False
        return await restore(guild_ids, http=self.http, state=self._connection, own_id=self.user.id)

    def guilds_of(self, shard_id: int) -> tuple[int, ...]:
        return tuple(guild.id for guild in self.guilds if guild.shard_id == shard_id)

    @property
    def is_listening(self) -> bool:
        """Whether every shard of ours hears what happens."""
        return bool(self._running) and all(shard.is_ready for shard in self._running.values())

    async def on_shard_resumed(self, shard_id: int) -> None:
        log.info("Discord session resumed", extra={"shard": shard_id})
        self._running[shard_id].goes_on()

    async def on_shard_ready(self, shard_id: int) -> None:
        guilds = [guild for guild in self.guilds if guild.shard_id == shard_id]
        log.info("Discord is ready", extra={"shard": shard_id, "servers": len(guilds)})
        with own_task_in(self._reading):
            shard = self._running[shard_id]
            missed_since = await shard.begins_anew()
            if missed_since is not None:
                for guild in guilds:
                    if guild.unavailable:
                        await self._goes_away(guild, missed_since)
            is_read = await self._audience.began(
                guilds, missed_since=missed_since, directs=shard_id == 0
            )
            if is_read and missed_since is not None:
                await shard.has_read(missed_since)

    async def on_guild_unavailable(self, guild: discord.Guild) -> None:
        await self._goes_away(guild, time())

    async def _goes_away(self, guild: discord.Guild, since: float) -> None:
        """An outage of one server: what happens in it is told to nobody."""
        if guild.id not in self._away:
            self._away[guild.id] = since
            await self._running[guild.shard_id].misses(since)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        since = self._away.pop(guild.id, None)
        if since is None:  # Discord may tell of a new server in this way too
            await self.on_guild_join(guild)
            return
        with own_task_in(self._reading):
            if await self._audience.returned(guild, missed_since=since):
                await self._running[guild.shard_id].has_read(since)

    async def on_guild_join(self, guild: discord.Guild) -> None:
        with self._owned_task():
            await self._audience.joined(guild)

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
        return self.addressed.session

    def _owned_task(self) -> AbstractContextManager[None]:
        """The library begins a task for every event and forgets it; we wait for its end."""
        return own_task_in(self._hearing)

    async def _placed(self, message: discord.Message) -> discord.Message:
        """The message with its channel: a thread that slept may be unknown to us."""
        if isinstance(message.channel, discord.PartialMessageable):
            found = await self._fetched(message.channel.id)
            message.channel = found or message.channel  # type: ignore[assignment]  # any
        return message

    async def _fetched(self, channel_id: int) -> Channel | None:
        try:
            with discord_errors():
                return await self.fetch_channel(channel_id)
        except (discord.InvalidData, UpstreamError) as error:
            log.warning(
                "what happened in an unknown channel is left alone",
                extra={"channel_id": channel_id, "cause": type(error).__name__},
            )
            return None

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        log.exception("a Discord event failed by a defect", extra={"event": event_method})

    async def close(self) -> None:
        """Let what was heard reach the desk, then hang up. What was missed is read by who comes
        after."""
        for task in self._reading:
            task.cancel()
        waiting = self._hearing - {asyncio.current_task()}
        if waiting:
            await asyncio.wait(waiting, timeout=CLOSING_SECONDS)
        for shard in self._running.values():
            await shard.end()
        for task in self._reading | self._hearing - {asyncio.current_task()}:
            task.cancel()  # it would meet closed connections
        if self._budget is not None:
            await self._budget.forgive()
        await super().close()


@contextmanager
def own_task_in(owned: set[asyncio.Task[Any]]) -> Iterator[None]:
    """Hold on to the task that runs this, as long as it does."""
    task = asyncio.current_task()
    assert task is not None
    owned.add(task)
    try:
        yield
    finally:
        owned.discard(task)
