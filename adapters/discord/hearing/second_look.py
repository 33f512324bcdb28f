"""Messages that asked something lately, looked at again: edited or deleted while we were away."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

import discord

from adapters.asked_lately import KnowsAskedLately, asked_lately
from adapters.discord.acting.asking import came_by_command
from adapters.discord.gateway.connection import Connection
from adapters.discord.gateway.errors import UNKNOWN_MESSAGE, DiscordRefused, discord_errors
from adapters.discord.gateway.untold import whole_message
from adapters.discord.hearing.afterthoughts import Afterthoughts
from adapters.discord.hearing.catch_up import MARGIN
from adapters.discord.hearing.channels import DIRECT
from adapters.discord.hearing.listener import Listener
from rag_core.conversation.key import Platform
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import FootnoteError

log = logging.getLogger(__name__)


class SecondLook:
    """One message after the other; a session that is resumed was told of all of them."""

    def __init__(
        self,
        connection: Connection,
        *,
        known: KnowsAskedLately,
        listener: Listener,
        afterthoughts: Afterthoughts,
    ) -> None:
        self._connection = connection
        self._known = known
        self._listener = listener
        self._afterthoughts = afterthoughts

    async def look(self, *, away_since: float) -> None:
        """A channel that refuses is left alone: it proves nothing, and refusals are counted."""
        closed: set[str] = set()
        try:
            for question in await asked_lately(self._known, Platform.DISCORD):
                channel_id = written_in(question)
                if channel_id in closed or came_by_command(question):
                    continue
                try:
                    await self._compare(question, channel_id, away_since)
                except DiscordRefused as refusal:
                    if refusal.code != UNKNOWN_MESSAGE:
                        closed.add(channel_id)
                        continue
                    await self._afterthoughts.withdrawn(question.identity)
        except FootnoteError as error:
            log.warning("questions were not looked at again", extra={"cause": str(error)})

    async def _compare(
        self, question: IncomingQuestion, channel_id: str, away_since: float
    ) -> None:
        with discord_errors():
            data = await self._connection.http.get_message(
                int(channel_id), int(question.message_id)
            )
        edited = discord.utils.parse_time(data.get("edited_timestamp"))
        me, channel = self._connection.user, self._channel(question, int(channel_id))
        was_away = datetime.fromtimestamp(away_since, UTC) - MARGIN
        if edited is not None and edited > was_away and me is not None and channel is not None:
            state = self._connection._connection
            await self._listener.edit(
                discord.Message(channel=channel, data=whole_message(data), state=state), me=me
            )

    def _channel(self, question: IncomingQuestion, channel_id: int) -> Any:
        if question.key.tenant == DIRECT:
            return discord.DMChannel._from_message(self._connection._connection, channel_id)
        guild = self._connection.get_guild(int(question.key.tenant))
        return guild.get_channel_or_thread(channel_id) if guild is not None else None


def written_in(question: IncomingQuestion) -> str:
    """The channel or thread that the message itself stands in."""
    key = question.key
    begins_its_thread = key.thread_id == question.message_id
    return key.channel_id if begins_its_thread else key.thread_id
