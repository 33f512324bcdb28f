"""Sends an answer to where its question came from, and finds what was sent before."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from adapters.answered_threads import AnsweredThreads
from adapters.discord.asking import CHANNEL, came_by_command
from adapters.discord.errors import UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, DiscordRefused
from adapters.discord.parts import components_of, content_of, is_this_part
from adapters.discord.places import AnswerPlace, AnswerPlaces, candidates
from adapters.discord.progress import LinePace, MessageLine, TicketLine, shown
from adapters.discord.rest import DiscordRest, Sent
from adapters.discord.token_reply import TokenReplies
from adapters.discord.tokens import TicketRest
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart
from rag_core.desk.progress import Progress
from rag_core.errors import UpstreamError, UpstreamRejected

log = logging.getLogger(__name__)

TYPING_EVERY_SECONDS = 8.0
"""Discord shows a typing sign for ten seconds."""


class DiscordReplies:
    """The reply channel of Discord."""

    def __init__(
        self,
        rest: DiscordRest,
        *,
        tickets: TicketRest,
        threads: AnsweredThreads,
        pace: LinePace,
        typing_every: float = TYPING_EVERY_SECONDS,
    ) -> None:
        self._rest = rest
        self._tickets = tickets
        self._threads = threads
        self._pace = pace
        self._places = AnswerPlaces(rest)
        self._by_token = TokenReplies(rest, tickets)
        self._typing_every = typing_every

    def progress(self, question: IncomingQuestion) -> AbstractAsyncContextManager[Progress]:
        if came_by_command(question):
            line = TicketLine(question, tickets=self._tickets)
            return shown(line, self._pace, heard_at=question.heard_at)
        return self._typing(question)

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        if came_by_command(question):
            return await self._by_token.post(question, part)
        place = await self._places.open(question)
        message_id = await self._rest.send(
            place.channel_id,
            content_of(part),
            nonce=part.key,
            reply_to=place.reply_to,
            components=components_of(part),
        )
        await self._threads.remember(question.key, message_id=message_id)
        return message_id

    async def find(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        if came_by_command(question):
            return await self._by_token.find(question, part)
        for place in candidates(question):
            for sent in await self._newest(place):
                if is_this_part(sent, part, question, place, own_id=self._rest.own_id):
                    return sent.id
        return None

    async def edit(self, question: IncomingQuestion, part: OutgoingPart) -> None:
        channel_id = await self._channel_of(question)
        await self._rest.edit(channel_id, str(part.external_id), content_of(part))

    async def remove(self, question: IncomingQuestion, external_id: str) -> None:
        try:
            await self._rest.delete(await self._channel_of(question), external_id)
        except DiscordRefused as refusal:
            if refusal.code not in {UNKNOWN_MESSAGE, UNKNOWN_CHANNEL}:
                raise

    async def _channel_of(self, question: IncomingQuestion) -> str:
        if came_by_command(question):
            return question.address[CHANNEL]
        return (await self._places.open(question)).channel_id

    async def _newest(self, place: AnswerPlace) -> list[Sent]:
        try:
            return list(await self._rest.newest(place.channel_id))
        except DiscordRefused as refusal:
            if refusal.code == UNKNOWN_CHANNEL:  # the thread was never made
                return []
            raise

    @asynccontextmanager
    async def _typing(self, question: IncomingQuestion) -> AsyncIterator[Progress]:
        task = asyncio.create_task(self._keep_typing(question))
        line = MessageLine(question, rest=self._rest, places=self._places)
        try:
            async with shown(line, self._pace, heard_at=question.heard_at) as progress:
                yield progress
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _keep_typing(self, question: IncomingQuestion) -> None:
        """Best effort: a sign that cannot be shown is not worth an answer."""
        while True:
            try:
                place = await self._places.open(question)
                await self._rest.typing(place.channel_id)
            except UpstreamError as error:
                log.info("no typing sign", extra={"cause": str(error)})
                if isinstance(error, UpstreamRejected) and not error.retryable:
                    return
            await asyncio.sleep(self._typing_every)
