"""Discord as a platform of the house: opened, listening, closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
import discord

from adapters.answered_threads import AnsweredThreads
from adapters.discord.afterthoughts import Afterthoughts
from adapters.discord.catchup import CatchUp
from adapters.discord.commands import CommandRegister, commands
from adapters.discord.config import DiscordConfig
from adapters.discord.connection import Channel, Connection, minimal_intents
from adapters.discord.detours import Detours
from adapters.discord.events import Rules
from adapters.discord.files import FileReader
from adapters.discord.findings import Examination
from adapters.discord.hearing import Listener
from adapters.discord.interactions import Commands, Interactions
from adapters.discord.lookup import Lookup
from adapters.discord.presses import Presses
from adapters.discord.progress import LinePace
from adapters.discord.readers import Readers
from adapters.discord.renderer import DiscordRenderer
from adapters.discord.reply import DiscordReplies
from adapters.discord.rest import DiscordRest
from adapters.discord.staff import StaffDesk
from adapters.discord.standing import KnowsPolicies, MutedThreads, Standing
from adapters.discord.stewardship import Stewardship
from adapters.discord.tokens import TicketRest
from adapters.discord.waiting import Waiting
from adapters.platform import TakesQuestions
from adapters.review import Review
from adapters.steward import Finding, Steward
from rag_core.conversation.key import Platform
from rag_core.desk.outgoing import Renderer, ReplyChannel
from rag_core.errors import ConfigurationError
from rag_core.ports import MarkerStore

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


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordParts:
    """What the rest of the house hands in.

    Without `lookup` there is no /lookup, and /ask proposes no modules; without `review`
    answers have no buttons; without `policies` no channel is answered in without a mention."""

    desk: TakesQuestions
    markers: MarkerStore
    lookup: Lookup | None = None
    review: Review | None = None
    policies: KnowsPolicies | None = None
    steward: Steward | None = None


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
        rest, tickets = DiscordRest(self.connection), TicketRest(self.connection)
        threads, waiting = AnsweredThreads(parts.markers), Waiting()
        self._replies = DiscordReplies(
            rest,
            tickets=tickets,
            threads=threads,
            pace=pace_of(config),
            waiting=waiting,
            detours=Detours(rest, config.admin_channels),
        )
        self._renderer = DiscordRenderer(
            with_buttons=parts.review is not None, staffed=config.staff_roles.keys()
        )
        self._muted = MutedThreads(parts.markers)
        self._readers = Readers(config.reader_roles, parts.markers)
        self._listener = self._listening(parts, rest, threads, waiting)
        self._catch_up = CatchUp(self.connection, listener=self._listener, markers=parts.markers)
        self._interactions = self._answering(parts, rest, tickets)
        self._register = CommandRegister(
            commands(with_lookup=parts.lookup is not None),
            guilds=config.command_guilds,
            rest=rest,
            markers=parts.markers,
        )

    def _listening(
        self, parts: DiscordParts, rest: DiscordRest, threads: AnsweredThreads, waiting: Waiting
    ) -> Listener:
        config, pauses = self._config, self._config.accept_pauses
        return Listener(
            desk=parts.desk,
            standing=Standing(threads=threads, muted=self._muted, policies=parts.policies),
            files=FileReader(self.connection, seconds=config.request_seconds),
            rest=rest,
            afterthoughts=Afterthoughts(desk=parts.desk, lines=self._replies.lines, pauses=pauses),
            readers=self._readers,
            waiting=waiting,
            rules=Rules(direct_messages=config.direct_messages, allowed_bots=config.allowed_bots),
            pauses=pauses,
        )

    def _answering(
        self, parts: DiscordParts, rest: DiscordRest, tickets: TicketRest
    ) -> Interactions:
        config, review = self._config, parts.review
        known = Commands(
            desk=parts.desk,
            tickets=tickets,
            lookup=parts.lookup,
            readers=self._readers,
            stewardship=Stewardship(
                parts.steward,
                tickets=tickets,
                muted=self._muted,
                readers=self._readers,
                admin_roles=config.admin_roles,
            ),
            pauses=config.accept_pauses,
        )
        if review is None:
            return Interactions(known.hear)
        staff = StaffDesk(config.staff_roles, review, tickets=tickets, rest=rest)
        return Interactions(known.hear, Presses(review, tickets=tickets, staff=staff).hear)

    @property
    def platform(self) -> Platform:
        return Platform.DISCORD

    @property
    def renderer(self) -> Renderer:
        return self._renderer

    @property
    def replies(self) -> ReplyChannel:
        return self._replies

    @property
    def is_ready(self) -> bool:
        return self.connection.is_listening and not self.connection.is_closed()

    async def findings(self) -> Sequence[Finding]:
        return self._examination.findings()

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
            async with asyncio.timeout(self._config.request_seconds):
                await self.connection.log_in()
        except discord.LoginFailure as error:
            raise ConfigurationError(NOT_OUR_BOT) from error
        except (discord.HTTPException, aiohttp.ClientError, OSError, ValueError) as error:
            log.warning("Discord cannot be reached", extra={"cause": type(error).__name__})
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
            await self._catch_up.remember_direct(message.channel.id)
        if (me := self.connection.user) is not None:
            await self._listener.hear(message, me=me)

    async def edited(self, message: discord.Message) -> None:
        if (me := self.connection.user) is not None:
            await self._listener.edit(message, me=me)

    async def deleted(self, channel: Channel, message_ids: Iterable[int]) -> None:
        await self._listener.delete(channel, message_ids)

    async def used(self, interaction: discord.Interaction) -> None:
        await self._interactions.hear(interaction)

    async def began(
        self, guilds: Sequence[discord.Guild], *, missed_since: float | None, directs: bool
    ) -> None:
        await self._register.sync()
        if missed_since is not None:
            await self._catch_up.read(guilds, since=missed_since, directs=directs)


def pace_of(config: DiscordConfig) -> LinePace:
    return LinePace(
        after_seconds=config.line_after_seconds, every_seconds=config.line_every_seconds
    )


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
