"""Which servers the bot serves on Discord: the gate that every message and interaction passes."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from time import monotonic

import discord

from adapters.admissions import Admissions
from adapters.discord.answering.post import Post
from adapters.discord.gateway.errors import DiscordRefused
from adapters.discord.gateway.rest import DiscordRest
from adapters.discord.hearing.channels import DIRECT
from rag_core.conversation.key import TenantId
from rag_core.conversation.tenants import Trust
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import FootnoteError, StorageError, UpstreamError, UpstreamRejected

log = logging.getLogger(__name__)

NOT_ALLOWED = (
    "I'm not set up for this server yet. Whoever runs me has to allow it first:"
    " `footnote servers allow {server}`."
)
NO_SHARED_SERVER = (
    "I answer direct messages of members of the servers that I serve, and I can't find you on any"
    " of them."
)
MEMBER_SECONDS, STRANGER_SECONDS = 3_600.0, 300.0
"""How long it counts who is a member of a server of ours, and who is none."""
LOOKUP_SECONDS = 2.0
"""How long somebody is looked for on our servers: an interaction is acknowledged within three."""
REMEMBERED = 10_000


class Servers:
    """Admits what comes from servers that are allowed, and from their members in private."""

    def __init__(self, admissions: Admissions, rest: DiscordRest) -> None:
        self._admissions = admissions
        self._rest = rest
        self._members: OrderedDict[int, tuple[float, TenantId | None]] = OrderedDict()
        """Until when it counts, and on which server of ours this person is; None: on none."""
        self._told: dict[int, float] = {}
        """Until when a stranger is not told again in private."""
        self._unreachable: dict[TenantId, float] = {}
        """Servers that do not let us look for members, and until when that counts."""

    async def open(self) -> None:
        """At the first start of all, whoever has invited the bot by then is trusted."""
        if await self._admissions.needs_first_use():
            try:
                present = await self._rest.own_servers()
            except UpstreamRejected as error:
                if error.retryable:
                    raise
                log.warning("own servers not listed", extra={"cause": str(error)})
            else:
                await self._admissions.trust_present(present)
        await self._admissions.load()

    async def serves(self, guild: discord.Guild) -> bool:
        """Whether this server is allowed; one that is new here and must wait is told so, once."""
        try:
            if await self._admissions.meet(TenantId(str(guild.id)), guild.name):
                return True
            channel = guild.system_channel
            if channel is not None and channel.permissions_for(guild.me).send_messages:
                await self._tell_server(guild.id, str(channel.id), nonce=f"allow{guild.id}")
        except StorageError as error:
            log.warning("server not looked up", extra={"cause": str(error)})
        return False

    async def admits(
        self, person: discord.abc.User, *, guild_id: int | None, guild: discord.Guild | None
    ) -> bool:
        """Whether what a person says or does there is for us. Without a guild the bot is not on
        that server, or it is private."""
        if guild_id is None:
            return await self._is_member(person.id)
        server = TenantId(str(guild_id))
        try:
            trust = await self._admissions.trust_of(server)
        except StorageError as error:
            log.error("server not looked up, so not served", extra={"cause": str(error)})
            return False
        if trust is None and guild is not None:  # heard of before its arrival was
            return await self.serves(guild)
        if trust is Trust.ALLOWED:
            self._note(person.id, server)
        return trust is Trust.ALLOWED

    async def admits_answer(self, question: IncomingQuestion) -> bool:
        """Whether an answer may still go where its question came from."""
        tenant = question.key.tenant
        return tenant == DIRECT or await self._admissions.admits(tenant)

    async def tell(self, message: discord.Message) -> None:
        """Tell whoever turned to us where nobody is answered: a server once, a person rarely."""
        channel_id, message_id = str(message.channel.id), str(message.id)
        if message.guild is not None:
            nonce = f"allow{message_id}"
            await self._tell_server(message.guild.id, channel_id, nonce=nonce, reply_to=message_id)
        elif monotonic() >= self._told.get(message.author.id, 0.0):
            self._told[message.author.id] = monotonic() + MEMBER_SECONDS
            await self._send(channel_id, NO_SHARED_SERVER, nonce=f"allow{message_id}")
            self._told = {who: until for who, until in self._told.items() if until > monotonic()}

    def refusal(self, interaction: discord.Interaction) -> str:
        """What somebody is told who uses a command or a button where nobody is answered."""
        if interaction.guild_id is None:
            return NO_SHARED_SERVER
        return NOT_ALLOWED.format(server=interaction.guild_id)

    async def _tell_server(
        self, guild_id: int, channel_id: str, *, nonce: str, reply_to: str | None = None
    ) -> None:
        tenant = TenantId(str(guild_id))
        try:
            if not await self._admissions.claim_notice(tenant):
                return
            sentence = NOT_ALLOWED.format(server=guild_id)
            if not await self._send(channel_id, sentence, nonce=nonce, reply_to=reply_to):
                await self._admissions.release_notice(tenant)
        except StorageError as error:
            log.warning("server not told", extra={"cause": str(error)})

    async def _send(
        self, channel_id: str, sentence: str, *, nonce: str, reply_to: str | None = None
    ) -> bool:
        try:
            await self._rest.send(
                channel_id, Post(content=sentence), nonce=nonce, reply_to=reply_to
            )
        except UpstreamError as error:
            log.warning("refusal not posted", extra={"cause": str(error)})
            return False
        return True

    async def _is_member(self, user_id: int) -> bool:
        """A server that was denied meanwhile does not count any more."""
        until, server = self._members.get(user_id, (0.0, None))
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                if monotonic() < until and (
                    server is None or await self._admissions.admits(server)
                ):
                    return server is not None
                server = await self._server_of(user_id)
        except (FootnoteError, TimeoutError) as error:
            log.warning("member not looked up", extra={"cause": type(error).__name__})
            return False
        self._note(user_id, server)
        return server is not None

    async def _server_of(self, user_id: int) -> TenantId | None:
        for server in await self._admissions.allowed():
            if monotonic() < self._unreachable.get(server, 0.0):
                continue
            try:
                if await self._rest.has_member(server, user_id):
                    return server
            except DiscordRefused as refusal:
                if refusal.retryable:
                    raise
                # The bot has left it. Refusals are counted, and too many of them ban us.
                self._unreachable[server] = monotonic() + MEMBER_SECONDS
        return None

    def forget(self, asker_id: str | None) -> None:
        """Drop what is remembered of one person, or of everybody."""
        for memory in (self._members, self._told):
            for user_id in list(memory):
                if asker_id in (None, str(user_id)):
                    del memory[user_id]

    def _note(self, user_id: int, server: TenantId | None) -> None:
        seconds = STRANGER_SECONDS if server is None else MEMBER_SECONDS
        self._members[user_id] = (monotonic() + seconds, server)
        self._members.move_to_end(user_id)
        while len(self._members) > REMEMBERED:
            self._members.popitem(last=False)
