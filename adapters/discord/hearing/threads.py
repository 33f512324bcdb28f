"""The thread of people that the bot was called into, as context of the question there."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import discord

from adapters.discord.gateway.connection import Connection
from adapters.discord.gateway.errors import discord_errors
from adapters.discord.gateway.untold import whole_message
from adapters.discord.hearing.events import ASKING_TYPES, said_by
from rag_core.conversation.context import ContextItem, ContextKind
from rag_core.errors import UpstreamError

log = logging.getLogger(__name__)

NEWEST = 100
"""Messages before the mention: one request."""
AROUND = 3
"""The message itself and its neighbours: a thread may begin without one, and nothing is refused."""
READ_SECONDS = 3.0


class ThreadReader:
    """Reads the newest messages of a thread and the one that it began with."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def read(self, message: discord.Message, me: discord.abc.User) -> list[ContextItem]:
        """What people said before this message, oldest first; nothing where it cannot be read in
        time."""
        try:
            async with asyncio.timeout(READ_SECONDS):
                found = await self._before(message)
                head = await self._head(message.channel)
        except (UpstreamError, TimeoutError) as error:
            about = {"channel_id": message.channel.id, "cause": type(error).__name__}
            log.info("thread not read", extra=about)
            return []
        said = sorted({each.id: each for each in [*head, *found]}.values(), key=lambda m: m.id)
        return [
            item
            for each in said
            if each.type in ASKING_TYPES and each.author.id != me.id
            for item in said_by(each, me, ContextKind.THREAD)
        ]

    async def _before(self, message: discord.Message) -> list[discord.Message]:
        with discord_errors():
            found = await self._connection.http.logs_from(
                message.channel.id, NEWEST, before=message.id
            )
            return [self._message(message.channel, data) for data in found]

    async def _head(self, channel: Any) -> list[discord.Message]:
        """The message that a thread was made from: it has the thread's id, and stands in the
        channel. A post of a forum holds its own."""
        parent = channel.parent if isinstance(channel, discord.Thread) else None
        if not isinstance(parent, discord.TextChannel):
            return []
        with discord_errors():
            near = await self._connection.http.logs_from(parent.id, AROUND, around=channel.id)
            return [self._message(parent, data) for data in near if int(data["id"]) == channel.id]

    def _message(self, channel: Any, data: Any) -> discord.Message:
        state = self._connection._connection
        return discord.Message(channel=channel, data=whole_message(data), state=state)
