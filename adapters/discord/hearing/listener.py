"""What happens to a message: the desk has it before anybody is told anything."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import discord

from adapters.discord.acting.keeping import Keeping
from adapters.discord.answering.post import Post
from adapters.discord.gateway.patience import NOT_TAKEN, in_hand
from adapters.discord.gateway.rest import DiscordRest
from adapters.discord.hearing.afterthoughts import Afterthoughts
from adapters.discord.hearing.entrance import Entrance
from adapters.discord.hearing.events import (
    Heard,
    Rules,
    Unasked,
    asked_text,
    is_addressed,
    may_ask,
    read,
    spot_of,
)
from adapters.discord.hearing.files import FileReader, is_text
from adapters.discord.hearing.readers import Readers
from adapters.discord.hearing.servers import Servers
from adapters.discord.hearing.standing import Standing
from adapters.never_mind import is_never_mind
from adapters.platform import AcceptsQuestions
from adapters.waiting import Waiting
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import StorageError, UpstreamError

log = logging.getLogger(__name__)

REMEMBERED = 10_000


class Listener:
    """Hands every question to the desk, and says so where it could not."""

    def __init__(
        self,
        *,
        desk: AcceptsQuestions,
        standing: Standing,
        files: FileReader,
        rest: DiscordRest,
        afterthoughts: Afterthoughts,
        entrance: Entrance,
        readers: Readers,
        waiting: Waiting,
        rules: Rules,
        pauses: tuple[float, ...],
        servers: Servers,
        keeping: Keeping | None = None,
    ) -> None:
        self._desk = desk
        self._standing = standing
        self._files = files
        self._rest = rest
        self._afterthoughts = afterthoughts
        self._entrance = entrance
        self._readers = readers
        self._waiting = waiting
        self._rules = rules
        self._pauses = pauses
        self._servers = servers
        self._keeping = keeping
        self._heard: OrderedDict[int, None] = OrderedDict()
        self._told: set[str] = set()
        """The channels that were told already that nothing is taken."""

    async def hear(self, message: discord.Message, *, me: discord.abc.User) -> None:
        self._note(message.id)
        if not await self._is_admitted(message, me):
            return
        await self._give_way(message, me)
        with self._entrance.coming(str(message.id)):
            await self._take(message, me)

    async def _is_admitted(self, message: discord.Message, me: discord.abc.User) -> bool:
        """Whoever turns to us on a server that is not allowed is told so; nothing else is done."""
        guild, asks = message.guild, may_ask(message, me, self._rules)
        if guild is None and not asks:
            return False
        guild_id = guild.id if guild is not None else None
        if await self._servers.admits(message.author, guild_id=guild_id, guild=guild):
            return True
        if asks and is_addressed(message, me):
            await self._servers.tell(message)
        return False

    async def _take(self, message: discord.Message, me: discord.abc.User) -> None:
        if self._keeping is not None and await self._keeping.heard(message, me=me):
            return
        heard = await self._read(message, me)
        if isinstance(heard, Unasked):
            await self._say(heard.channel_id, heard.message_id, heard.reason)
        elif heard is not None and is_never_mind(asked_text(message, me)):
            await self._afterthoughts.never_mind(message, heard)
        elif heard is not None:
            await self._hand_in(heard, message)

    async def hear_late(self, message: discord.Message, *, me: discord.abc.User | None) -> None:
        """What was written while nobody listened; what was heard then is not heard again."""
        if me is not None and message.id not in self._heard:
            await self.hear(message, me=me)

    async def edit(self, message: discord.Message, *, me: discord.abc.User) -> None:
        guild_id = message.guild.id if message.guild is not None else None
        if not await self._servers.admits(message.author, guild_id=guild_id, guild=message.guild):
            return
        if self._keeping is not None:
            await self._keeping.edited(message, me=me)
        heard = await self._read(message, me)
        if not isinstance(heard, Heard):
            return
        question = heard.question
        if is_never_mind(asked_text(message, me)):
            await self._afterthoughts.withdrawn(question.identity, asker_id=question.asker_id)
        else:
            await self._afterthoughts.edited(
                question.message_id, lambda: self._with_reader(heard, message)
            )

    async def delete(self, channel: Any, message_ids: Iterable[int]) -> None:
        gone = list(message_ids)
        if self._keeping is not None:
            await self._keeping.deleted(channel, gone)
        await self._afterthoughts.deleted(channel, gone)

    def _note(self, message_id: int) -> None:
        self._heard[message_id] = None
        while len(self._heard) > REMEMBERED:
            self._heard.popitem(last=False)

    async def _read(self, message: discord.Message, me: discord.abc.User) -> Heard | Unasked | None:
        """Files are fetched only where somebody turned to us or to a place of ours."""
        now = datetime.now(UTC)
        heard = read(message, me=me, at=now, rules=self._rules)
        readable = any(is_text(file) for file in message.attachments)
        if not message.attachments or heard is None or not (readable or isinstance(heard, Heard)):
            return heard
        if isinstance(heard, Heard) and not await self._may_be_for_us(heard):
            return heard
        files = await self._files.read(message.attachments)
        return read(message, me=me, at=now, rules=self._rules, files=files)

    async def _may_be_for_us(self, heard: Heard) -> bool:
        try:
            return await self._standing.is_for_us(heard)
        except StorageError:
            return True  # handing it in will fail the same way, and be tried again

    async def _hand_in(self, heard: Heard, message: discord.Message) -> None:
        """A question that the desk does not take is one that somebody waits for."""
        is_for_us = heard.addressed

        async def hand_in() -> None:
            nonlocal is_for_us
            async with self._entrance.turn():
                if not await self._standing.is_for_us(heard):
                    return
                is_for_us = True
                if not heard.addressed:
                    self._waiting.add(heard.question)
                await self._desk.accept(await self._with_reader(heard, message))
                self._afterthoughts.asked(heard.question)
                self._told.clear()

        in_time = await in_hand(hand_in, pauses=self._pauses, message_id=heard.question.message_id)
        if is_for_us and not in_time:
            await self._say_once(str(message.channel.id), str(message.id))

    async def _with_reader(self, heard: Heard, message: discord.Message) -> IncomingQuestion:
        reader = await self._readers.profile(message.author, heard.spot.tenant)
        return replace(heard.question, reader=reader)

    async def _give_way(self, message: discord.Message, me: discord.abc.User) -> None:
        """What somebody else answers before we have begun is not ours to answer any more."""
        spot = spot_of(message)
        if spot is None or message.author.bot or message.author.id == me.id:
            return
        author_id = str(message.author.id)
        for identity in self._waiting.answered_by(author_id, thread=spot.key):
            await self._afterthoughts.withdrawn(identity)

    async def _say_once(self, channel_id: str, message_id: str) -> None:
        if channel_id not in self._told:
            self._told.add(channel_id)
            await self._say(channel_id, message_id, NOT_TAKEN)

    async def _say(self, channel_id: str, message_id: str, sentence: str) -> None:
        try:
            await self._rest.send(
                channel_id, Post(content=sentence), nonce=f"why{message_id}", reply_to=message_id
            )
        except UpstreamError as error:
            log.warning("nothing could be said", extra={"cause": str(error)})
