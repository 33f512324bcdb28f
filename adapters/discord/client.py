"""Discord as a platform of the house: opened, listening, closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

import discord

from adapters.discord.assembly import DiscordParts, assembled
from adapters.discord.config import DiscordConfig
from adapters.discord.findings import Examination
from adapters.discord.gateway.connection import Channel, Connection, minimal_intents
from adapters.discord.gateway.errors import discord_errors
from adapters.steward import Finding
from rag_core.conversation.key import Platform, TenantId
from rag_core.desk.outgoing import Renderer, ReplyChannel
from rag_core.errors import ConfigurationError, StorageError, UpstreamError

log = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS = 60.0
NOT_OUR_BOT = (
    "DISCORD_BOT_TOKEN was refused by Discord: copy the bot's token from the developer portal."
)
NO_CONTENT_INTENT = (
    "The message content intent is off in Discord's developer portal: I answer mentions and "
    "direct messages only, and cannot read follow-ups in my threads. Switch it on under Bot."
)
REFUSED_GATEWAY = "Discord refused the connection (close code {code}): {hint}."
HINTS = {
    4010: "the shard is invalid",
    4011: "the bot is in so many servers that it must be sharded",
    4012: "the gateway at DISCORD_GATEWAY_URL speaks another version",
    4013: "the intents are invalid",
    4014: "the intents are not allowed",
}
NOT_AUTHENTICATED, NOT_ALLOWED = 4004, 4014


class DiscordPlatform:
    """One bot on Discord."""

    def __init__(self, config: DiscordConfig, parts: DiscordParts) -> None:
        self._config = config
        self._intents = minimal_intents()
        self.connection = Connection(
            config, intents=self._intents, audience=self, markers=parts.markers
        )
        self._examination = Examination(
            self.connection, intents=self._intents, staff=config.staff_roles
        )
        self._admissions = parts.admissions
        self._works = assembled(config, parts, self.connection)

    @property
    def platform(self) -> Platform:
        return Platform.DISCORD

    @property
    def renderer(self) -> Renderer:
        return self._works.renderer

    @property
    def replies(self) -> ReplyChannel:
        return self._works.replies

    @property
    def is_ready(self) -> bool:
        return self.connection.is_listening and not self.connection.is_closed()

    def forget(self, asker_id: str | None) -> None:
        """Drop what is remembered of one person, or of everybody."""
        self._works.listener.forget(asker_id)
        self._works.servers.forget(asker_id)

    async def findings(self, *, tenant: TenantId | None = None) -> Sequence[Finding]:
        found = self._examination.findings(guild_id=tenant)
        return found if tenant is not None else [*found, *await self._admissions.findings()]

    async def run(self) -> None:
        """Listen until cancelled."""
        pause = self._config.retry_seconds
        while not await self.log_in():
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        while not self.connection.is_closed():
            await self._listen()

    async def log_in(self) -> bool:
        """Whether Discord knows us now; not while it cannot be reached."""
        try:
            with discord_errors():
                async with asyncio.timeout(self._config.request_seconds):
                    await self.connection.log_in()
        except discord.LoginFailure as error:
            raise ConfigurationError(NOT_OUR_BOT) from error
        except UpstreamError as error:
            log.warning("Discord cannot be reached", extra={"cause": str(error)})
            return False
        try:
            await self._works.servers.open()
        except (UpstreamError, StorageError) as error:
            log.warning("servers not known yet", extra={"cause": str(error)})
            return False
        return True

    async def _listen(self) -> None:
        try:
            await self.connection.connect()
        except discord.PrivilegedIntentsRequired as error:
            if not self._intents.message_content:
                raise ConfigurationError(why_closed(NOT_ALLOWED)) from error
            log.warning(NO_CONTENT_INTENT)
            # The library reads this very object when it identifies again.
            self._intents.message_content = False
            await asyncio.sleep(self._config.identify_seconds)
        except discord.ConnectionClosed as closed:
            raise ConfigurationError(why_closed(closed.code)) from closed

    async def heard(self, message: discord.Message) -> None:
        if isinstance(message.channel, discord.DMChannel):
            await self._works.catch_up.remember_direct(message.channel.id)
        if (me := self.connection.user) is not None:
            await self._works.listener.hear(message, me=me)

    async def edited(self, message: discord.Message) -> None:
        if (me := self.connection.user) is not None:
            await self._works.listener.edit(message, me=me)

    async def deleted(self, channel: Channel, message_ids: Iterable[int]) -> None:
        await self._works.listener.delete(channel, message_ids)

    async def used(self, interaction: discord.Interaction) -> None:
        await self._works.interactions.hear(interaction)

    async def began(
        self, guilds: Sequence[discord.Guild], *, missed_since: float | None, directs: bool
    ) -> bool:
        await self._works.register.sync()
        served = [guild for guild in guilds if await self._works.servers.serves(guild)]
        if missed_since is None:
            return True
        is_read = await self._works.catch_up.read(served, since=missed_since, directs=directs)
        await self._look_again(missed_since)
        return is_read

    async def joined(self, guild: discord.Guild) -> None:
        await self._works.servers.serves(guild)

    async def returned(self, guild: discord.Guild, *, missed_since: float) -> bool:
        if not await self._works.servers.serves(guild):
            return True
        is_read = await self._works.catch_up.read([guild], since=missed_since, directs=False)
        await self._look_again(missed_since)
        return is_read

    async def _look_again(self, missed_since: float) -> None:
        if self._works.second_look is not None:
            await self._works.second_look.look(away_since=missed_since)


def why_closed(code: int) -> str:
    if code == NOT_AUTHENTICATED:
        return NOT_OUR_BOT
    return REFUSED_GATEWAY.format(code=code, hint=HINTS.get(code, "it gave no reason"))


@asynccontextmanager
async def open_discord(
    config: DiscordConfig, parts: DiscordParts
) -> AsyncIterator[DiscordPlatform]:
    """A bot that is logged in, or tries again while Discord is away; closed at the end."""
    platform = DiscordPlatform(config, parts)
    async with platform.connection:
        await platform.log_in()
        yield platform
