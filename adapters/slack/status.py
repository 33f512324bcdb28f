"""What Slack shows under a thread while an answer is made."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import slack_errors
from rag_core.conversation.key import ConversationKey
from rag_core.desk.progress import Progress, QuestionState
from rag_core.errors import UpstreamError, UpstreamRejected

log = logging.getLogger(__name__)

WORDS = {
    QuestionState.PENDING: "is reading the question…",
    QuestionState.RETRIEVING: "is searching the docs…",
    QuestionState.GENERATING: "is writing…",
}
LONGEST = 50


class Statuses:
    """Sets the status of threads, as long as the workspace lets us."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._there = True

    @asynccontextmanager
    async def of(self, key: ConversationKey) -> AsyncIterator[Progress]:
        """Follow one answer. Slack takes the status away when the answer is posted."""
        status = ThreadStatus()
        sending = asyncio.create_task(self._keep_sending(key, status))
        try:
            yield status
        finally:
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sending

    async def _keep_sending(self, key: ConversationKey, status: ThreadStatus) -> None:
        while self._there:
            await self._send(key, await status.next())

    async def _send(self, key: ConversationKey, words: str) -> None:
        try:
            with slack_errors():
                await self._client.assistant_threads_setStatus(
                    channel_id=key.channel_id, thread_ts=key.thread_id, status=words
                )
        except UpstreamRejected as error:
            if not error.retryable:
                # A plan without assistant or an app without the scope: it will not change soon.
                self._there = False
                log.info("no status in threads", extra={"cause": str(error)})
        except UpstreamError as error:
            log.debug("a status was not shown", extra={"cause": str(error)})


class ThreadStatus:
    """The newest word on one answer; whoever shows it may skip the ones in between."""

    def __init__(self) -> None:
        self._words = ""
        self._new = asyncio.Event()

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        words = detail[:LONGEST] or WORDS.get(state, "")
        if words and words != self._words:
            self._words = words
            self._new.set()

    async def text(self, delta: str, *, restart: bool = False) -> None:
        """The text itself is shown once it is whole."""

    async def next(self) -> str:
        await self._new.wait()
        self._new.clear()
        return self._words
