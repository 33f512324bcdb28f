"""A platform's reply channel that keeps nobody for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart, ReplyChannel
from rag_core.desk.progress import Progress
from rag_core.errors import UpstreamUnavailable

LONGEST_CALL_SECONDS = 120.0
"""Beyond what any platform's own bounds on tries and rate limits add up to."""


class TimedReplies:
    """A call that comes to no end is one whose outcome nobody knows: it is looked up later.

    Platforms bound their requests themselves. Where such a bound fails, each call would keep one
    more hand of the desk, until no question of any platform is answered."""

    def __init__(
        self, replies: ReplyChannel, *, longest_seconds: float = LONGEST_CALL_SECONDS
    ) -> None:
        self._replies = replies
        self._longest_seconds = longest_seconds

    def progress(self, question: IncomingQuestion) -> AbstractAsyncContextManager[Progress]:
        return self._replies.progress(question)

    def open_notice(self, question: IncomingQuestion) -> bool:
        return self._replies.open_notice(question)

    def close_notice(self, question: IncomingQuestion) -> None:
        self._replies.close_notice(question)

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        async with self._timed(question):
            return await self._replies.post(question, part)

    async def find(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        async with self._timed(question):
            return await self._replies.find(question, part)

    async def edit(self, question: IncomingQuestion, part: OutgoingPart) -> None:
        async with self._timed(question):
            await self._replies.edit(question, part)

    async def remove(self, question: IncomingQuestion, external_id: str) -> None:
        async with self._timed(question):
            await self._replies.remove(question, external_id)

    async def clear(self, question: IncomingQuestion) -> None:
        async with self._timed(question):
            await self._replies.clear(question)

    @asynccontextmanager
    async def _timed(self, question: IncomingQuestion) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._longest_seconds) as bound:
                yield
        except TimeoutError as error:
            if not bound.expired():
                raise
            platform = question.key.platform.value
            raise UpstreamUnavailable(platform, "a call that came to no end") from error
