"""What happens to a message: the desk has it before anybody is told anything."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import discord

from adapters.discord.events import Heard, Unasked, read
from adapters.discord.patience import NOT_TAKEN, in_hand
from adapters.discord.rest import DiscordRest
from adapters.platform import AcceptsQuestions, KnowsThreads
from rag_core.errors import UpstreamError

log = logging.getLogger(__name__)


class Listener:
    """Hands every question to the desk, and says so where it could not."""

    def __init__(
        self,
        *,
        desk: AcceptsQuestions,
        threads: KnowsThreads,
        rest: DiscordRest,
        pauses: tuple[float, ...],
    ) -> None:
        self._desk = desk
        self._threads = threads
        self._rest = rest
        self._pauses = pauses
        self._told: set[str] = set()
        """The channels that were told already that nothing is taken."""

    async def hear(self, message: discord.Message, *, me: discord.abc.User) -> None:
        heard = read(message, me=me, at=datetime.now(UTC))
        if isinstance(heard, Unasked):
            await self._say(heard.channel_id, heard.message_id, heard.reason)
        elif heard is not None:
            if await self._is_in_hand(heard):
                self._told.clear()
            elif heard.addressed:
                await self._say_once(str(message.channel.id), str(message.id))

    async def _is_in_hand(self, heard: Heard) -> bool:
        async def hand_in() -> None:
            if await self._is_for_us(heard):
                await self._desk.accept(heard.question)

        return await in_hand(hand_in, pauses=self._pauses, message_id=heard.question.message_id)

    async def _is_for_us(self, heard: Heard) -> bool:
        """A message in a thread needs no mention where we have answered before."""
        if heard.addressed or heard.in_own_thread:
            return True
        return await self._threads.answered_in(heard.question.key)

    async def _say_once(self, channel_id: str, message_id: str) -> None:
        if channel_id not in self._told:
            self._told.add(channel_id)
            await self._say(channel_id, message_id, NOT_TAKEN)

    async def _say(self, channel_id: str, message_id: str, sentence: str) -> None:
        try:
            await self._rest.send(
                channel_id, sentence, nonce=f"why{message_id}", reply_to=message_id
            )
        except UpstreamError as error:
            log.warning("nothing could be said", extra={"cause": str(error)})
