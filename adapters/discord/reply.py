"""Sends an answer to where its question came from, and finds what was sent before."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from adapters.discord.errors import UNKNOWN_CHANNEL, DiscordRefused
from adapters.discord.places import AnswerPlace, AnswerPlaces, candidates
from adapters.discord.rest import DiscordRest, Sent
from adapters.discord.threads import AnsweredThreads
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart
from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import UpstreamError, UpstreamRejected

log = logging.getLogger(__name__)

TYPING_EVERY_SECONDS = 8.0
"""Discord shows a typing sign for ten seconds."""


class OnlyTyping:
    """Progress that shows as a typing sign; stages and text are not shown yet."""

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        """The typing sign says enough."""

    async def text(self, delta: str, *, restart: bool = False) -> None:
        """The answer is shown when it is whole."""


class DiscordReplies:
    """The reply channel of Discord."""

    def __init__(
        self,
        rest: DiscordRest,
        *,
        threads: AnsweredThreads,
        typing_every: float = TYPING_EVERY_SECONDS,
    ) -> None:
        self._rest = rest
        self._threads = threads
        self._places = AnswerPlaces(rest)
        self._typing_every = typing_every

    def progress(self, question: IncomingQuestion) -> AbstractAsyncContextManager[Progress]:
        return self._typing(question)

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        place = await self._places.open(question)
        message_id = await self._rest.send(
            place.channel_id, content_of(part), nonce=part.key, reply_to=place.reply_to
        )
        await self._threads.remember(question.key, message_id=message_id)
        return message_id

    async def find(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        for place in candidates(question):
            for sent in await self._newest(place):
                if self._is(sent, part, question, place):
                    return sent.id
        return None

    async def _newest(self, place: AnswerPlace) -> list[Sent]:
        try:
            return list(await self._rest.newest(place.channel_id))
        except DiscordRefused as refusal:
            if refusal.code == UNKNOWN_CHANNEL:  # the thread was never made
                return []
            raise

    def _is(
        self, sent: Sent, part: OutgoingPart, question: IncomingQuestion, place: AnswerPlace
    ) -> bool:
        """Discord may tell a nonce only to who has just sent it, so its traces must do: our own
        message after the question, in reply to it, with the words of this part. Parts of one
        answer differ by their count."""
        ours = sent.author_id == self._rest.own_id and int(sent.id) > int(question.message_id)
        same = sent.reply_to == place.reply_to and trace(sent.content) == trace(content_of(part))
        return ours and (same or sent.nonce == part.key)

    @asynccontextmanager
    async def _typing(self, question: IncomingQuestion) -> AsyncIterator[Progress]:
        task = asyncio.create_task(self._keep_typing(question))
        try:
            yield OnlyTyping()
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


def content_of(part: OutgoingPart) -> str:
    return str(json.loads(part.payload)["content"])


def trace(content: str) -> str:
    """A message's words without white space, which Discord may trim."""
    return "".join(content.split())
