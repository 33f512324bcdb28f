"""Sends an answer to where its question came from, and finds what was sent before."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from adapters.answered_threads import AnsweredThreads
from adapters.discord.acting.asking import came_by_command
from adapters.discord.answering.detours import Detours
from adapters.discord.answering.doors import ClosedDoors
from adapters.discord.answering.lines import Lines, TicketLine
from adapters.discord.answering.parts import is_this_part, post_of
from adapters.discord.answering.places import AnswerPlace, AnswerPlaces, makes_thread
from adapters.discord.answering.progress import LinePace, shown
from adapters.discord.answering.token_reply import TokenReplies
from adapters.discord.gateway.errors import GONE, SERVICE, DiscordRefused
from adapters.discord.gateway.rest import DiscordRest
from adapters.discord.gateway.tokens import TicketRest
from adapters.discord.gateway.turns import Urgency, as_urgent_as
from adapters.discord.hearing.channels import DIRECT
from adapters.discord.hearing.servers import Servers
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart
from rag_core.desk.progress import NoProgress, Progress
from rag_core.errors import PlaceRefused, UpstreamError, UpstreamRejected

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
        begin: Callable[[IncomingQuestion], None],
        servers: Servers,
        detours: Detours,
        typing_every: float = TYPING_EVERY_SECONDS,
    ) -> None:
        self._rest = rest
        self._tickets = tickets
        self._threads = threads
        self._pace = pace
        self._begin = begin
        self._servers = servers
        self._doors = ClosedDoors()
        self._places = AnswerPlaces(rest, self._doors)
        self._detours = detours
        self.lines = Lines(rest, self._places)
        self._by_token = TokenReplies(rest, tickets)
        self._typing_every = typing_every

    @asynccontextmanager
    async def progress(self, question: IncomingQuestion) -> AsyncIterator[Progress]:
        self._begin(question)
        async with await self._progress_of(question) as progress:
            yield progress

    async def _progress_of(
        self, question: IncomingQuestion
    ) -> AbstractAsyncContextManager[Progress]:
        if not await self._servers.admits_answer(question):
            return nullcontext(NoProgress())
        if came_by_command(question):
            line = TicketLine(question, tickets=self._tickets)
            return shown(line, self._pace, question)
        return self._typing(question)

    async def _check_server(self, question: IncomingQuestion) -> None:
        """What was asked before a server was denied is not answered after it."""
        if not await self._servers.admits_answer(question):
            raise PlaceRefused(SERVICE, "the server is not allowed")

    def open_notice(self, question: IncomingQuestion) -> bool:
        """Discord counts deletions by the channel, and each thread is one."""
        return True

    def close_notice(self, question: IncomingQuestion) -> None:
        """Nobody's room is less for it."""

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        await self._check_server(question)
        by_command = came_by_command(question)
        try:
            if by_command:
                return await self._by_token.post(question, part)
            self._check_door(question)
            message_id = await self._posted_in_line(question, part)
            message_id = message_id or await self._sent(question, part)
        except DiscordRefused as refusal:
            if not refusal.is_final or question.private or question.key.tenant == DIRECT:
                raise
            if not by_command:
                self._doors.close(door_of(question), refusal)
            return await self._detours.post(question, post_of(part), refusal, nonce=part.key)
        await self._threads.remember(question.key, message_id=message_id)
        return message_id

    def _check_door(self, question: IncomingQuestion) -> None:
        """What this place has just refused, it would refuse again."""
        if (refusal := self._doors.refusal(door_of(question))) is not None:
            raise refusal

    async def _posted_in_line(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        """The first part takes the place of the line that announced it, where there is one."""
        if part.number:
            return None
        return await self.lines.become(question, post_of(part))

    async def _sent(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        place, post = await self._places.open(question), post_of(part)
        try:
            return await self._rest.send(
                place.channel_id, post, nonce=part.key, reply_to=place.reply_to
            )
        except DiscordRefused as refusal:
            below = self._places.below(question, refusal) if refusal.is_final else None
            if below is None or below == place:
                raise
            return await self._rest.send(
                below.channel_id, post, nonce=part.key, reply_to=below.reply_to
            )

    async def edit(self, question: IncomingQuestion, part: OutgoingPart) -> None:
        """Let a part that was posted say something else; what announced it has done its duty."""
        await self._check_server(question)
        await self.lines.clear(question.message_id)
        if came_by_command(question):
            await self._by_token.edit(question, part)
            return
        assert part.external_id is not None
        refused = None
        for place in self._candidates(question):
            try:
                await self._rest.edit(place.channel_id, part.external_id, post_of(part))
            except DiscordRefused as refusal:
                if refusal.code not in GONE:
                    raise
                refused = refusal
            else:
                return
        assert refused is not None
        raise refused

    async def remove(self, question: IncomingQuestion, external_id: str) -> None:
        """Take a part away; what is gone already is gone."""
        await self.lines.clear(question.message_id)
        if came_by_command(question):
            await self._by_token.remove(question, external_id)
            return
        for place in self._candidates(question):
            if await self._rest.removed(place.channel_id, external_id):
                return

    async def clear(self, question: IncomingQuestion) -> None:
        """Take away the line that announced an answer; a command's is replaced by no answer."""
        if not came_by_command(question):
            await self.lines.end(question)

    def _candidates(self, question: IncomingQuestion) -> list[AnswerPlace]:
        return [*self._places.known(question), *self._detours.place_of(question)]

    async def find(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        if came_by_command(question):
            return await self._by_token.find(question, part)
        for place in self._candidates(question):
            for sent in await self._rest.newest_if_any(place.channel_id):
                if is_this_part(sent, part, question, place, own_id=self._rest.own_id):
                    return sent.id
        return None

    @asynccontextmanager
    async def _typing(self, question: IncomingQuestion) -> AsyncIterator[Progress]:
        task = asyncio.create_task(self._keep_typing(question))
        try:
            async with shown(self.lines.of(question), self._pace, question) as progress:
                yield progress
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _keep_typing(self, question: IncomingQuestion) -> None:
        """Best effort: a sign that cannot be shown is not worth an answer."""
        while True:
            try:
                self._check_door(question)
                place = await self._places.open(question)
                with as_urgent_as(Urgency.SIGN):
                    await self._rest.typing(place.channel_id)
            except UpstreamError as error:
                log.info("no typing sign", extra={"cause": str(error)})
                if isinstance(error, UpstreamRejected) and not error.retryable:
                    return
            await asyncio.sleep(self._typing_every)


def door_of(question: IncomingQuestion) -> str:
    """What a refusal of this answer says something about."""
    key = question.key
    return key.channel_id if makes_thread(question) else key.thread_id
