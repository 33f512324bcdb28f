"""What was written while nobody listened: read afterwards, and answered then."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import discord

from adapters.discord.gateway.connection import Connection
from adapters.discord.gateway.errors import discord_errors
from adapters.discord.gateway.untold import whole_message
from adapters.discord.hearing.listener import Listener
from rag_core.errors import FootnoteError, StorageError, UpstreamRejected
from rag_core.ports import MarkerStore

log = logging.getLogger(__name__)

MARGIN = timedelta(seconds=60)
"""Before the moment up to which everything was heard; what was heard twice is one question."""
LONGEST = timedelta(hours=24)
"""Nobody waits longer for an answer."""
A_PAGE, PAGES = 100, 5
DIRECTS = "discord:directs"
MOST_DIRECTS = 50


class CatchUp:
    """Reads every channel that got messages meanwhile, threads that are new included."""

    def __init__(
        self,
        connection: Connection,
        *,
        listener: Listener,
        markers: MarkerStore,
        pauses: Sequence[float],
    ) -> None:
        self._pauses = pauses
        self._connection = connection
        self._listener = listener
        self._markers = markers

    async def read(self, guilds: Sequence[discord.Guild], *, since: float, directs: bool) -> bool:
        """Oldest first in each channel; one that cannot be read does not keep the others, and is
        tried again later. Whether none was left in the end."""
        after = max(datetime.fromtimestamp(since, UTC) - MARGIN, datetime.now(UTC) - LONGEST)
        mark = discord.utils.time_snowflake(after)
        channels: list[Any] = list(channels_with_news(guilds, mark))
        channels += await self._directs() if directs else []
        for pause in (*self._pauses, None):
            channels = [channel for channel in channels if not await self._is_read(channel, mark)]
            if not channels or pause is None:
                break
            await asyncio.sleep(pause)
        log.info("missed messages were read", extra={"channels_left": len(channels)})
        return not channels

    async def _is_read(self, channel: Any, mark: int) -> bool:
        """Also where it is refused: that will not change soon."""
        try:
            await self._read(channel, mark)
        except FootnoteError as error:
            extra = {"channel_id": channel.id, "cause": str(error)}
            log.warning("missed messages could not be read", extra=extra)
            return isinstance(error, UpstreamRejected) and not error.retryable
        return True

    async def remember_direct(self, channel_id: int) -> None:
        """Of direct conversations a new session is told nothing: the last ones are kept."""
        try:
            known = await self._known_directs()
            if channel_id not in known[:1]:
                newest = [channel_id, *(each for each in known if each != channel_id)]
                await self._markers.set(DIRECTS, json.dumps(newest[:MOST_DIRECTS]))
        except StorageError as error:
            log.warning("a direct conversation was not noted", extra={"cause": str(error)})

    async def _known_directs(self) -> list[int]:
        found = await self._markers.get(DIRECTS)
        return [int(each) for each in json.loads(found)] if found else []

    async def _directs(self) -> list[Any]:
        state = self._connection._connection
        return [
            discord.DMChannel._from_message(state, channel_id)
            for channel_id in await self._known_directs()
        ]

    async def _read(self, channel: Any, mark: int) -> None:
        for _ in range(PAGES):
            page = await self._page(channel, mark)
            for message in page:
                await self._listener.hear_late(message, me=self._connection.user)
            if len(page) < A_PAGE:
                return
            mark = page[-1].id
        log.warning("too much was missed to be read", extra={"channel_id": channel.id})

    async def _page(self, channel: Any, mark: int) -> list[discord.Message]:
        state = self._connection._connection
        with discord_errors():
            found = await self._connection.http.logs_from(channel.id, A_PAGE, after=mark)
            messages = [
                discord.Message(channel=channel, data=whole_message(data), state=state)
                for data in found
            ]
        return sorted(messages, key=lambda message: message.id)


def channels_with_news(guilds: Sequence[discord.Guild], mark: int) -> Iterator[Any]:
    """Channels and threads that we may read and whose last message is younger, or was not told."""
    for guild in guilds:
        places: list[Any] = [*guild.text_channels, *guild.voice_channels, *guild.threads]
        readable = [channel for channel in places if may_read(channel, guild.me)]
        for channel in readable or places:  # where nothing is, permissions were not told
            last = channel.last_message_id
            if last is None or last > mark:
                yield channel


def may_read(channel: Any, me: discord.Member | None) -> bool:
    """Not where it would be refused: refusals are counted, and too many of them ban us."""
    if me is None or channel.guild.default_role is None:
        return True
    allowed = channel.permissions_for(me)
    return bool(allowed.view_channel and allowed.read_message_history)
