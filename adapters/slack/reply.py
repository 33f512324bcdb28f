"""Posts the parts of an answer into their thread, and finds them again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from adapters.answered_threads import AnsweredThreads
from adapters.slack.calls import slack_errors
from adapters.slack.pace import Pace
from adapters.slack.status import Statuses
from adapters.slack.workspace import Workspace
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart
from rag_core.desk.progress import Progress
from rag_core.errors import UpstreamRejected

EVENT_TYPE = "footnote"
"""Any member can read a message's metadata, so it holds an opaque key and nothing else."""
TRIES = 3
LONGEST_PAUSE = 10.0
"""A longer rate limit is left to the desk, which holds no worker while it waits."""
GONE = "message_not_found"
PAGE = 200
MAX_PAGES = 25
"""A part that is not among the next 5,000 messages of its thread was not posted."""


class SlackReplies:
    """The thread of a question, as a place to answer in."""

    def __init__(
        self,
        *,
        client: AsyncWebClient,
        workspace: Workspace,
        threads: AnsweredThreads,
        pace: Pace,
    ) -> None:
        self._client = client
        self._pace = pace
        self._workspace = workspace
        self._threads = threads
        self._statuses = Statuses(client)

    def progress(self, question: IncomingQuestion) -> AbstractAsyncContextManager[Progress]:
        return self._statuses.of(question.key)

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        ts = await self._patiently(question, part)
        await self._threads.remember(question.key, message_id=ts)
        return ts

    async def _patiently(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        """Wait out a short rate limit here: for the desk, each part would be another attempt."""
        channel = question.key.channel_id
        for tries_left in reversed(range(TRIES)):
            await self._pace.turn(channel)
            try:
                return await self._post(question, part)
            except UpstreamRejected as error:
                pause = error.retry_after
                if pause is None or pause > LONGEST_PAUSE or not tries_left:
                    raise
                self._pace.hold(channel, pause)
        raise AssertionError("the last try returns or raises")

    async def _post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        payload = json.loads(part.payload)
        with slack_errors():
            posted = await self._client.chat_postMessage(
                channel=question.key.channel_id,
                thread_ts=question.key.thread_id,
                text=payload["text"],
                blocks=payload["blocks"] or None,
                metadata=metadata_of(part),
                unfurl_links=False,
                unfurl_media=False,
            )
        return str(posted["ts"])

    async def edit(self, question: IncomingQuestion, part: OutgoingPart) -> None:
        payload = json.loads(part.payload)
        await self._pace.turn(question.key.channel_id)
        with slack_errors():
            await self._client.chat_update(
                channel=question.key.channel_id,
                ts=str(part.external_id),
                text=payload["text"],
                blocks=payload["blocks"],
                metadata=metadata_of(part),
            )

    async def remove(self, question: IncomingQuestion, external_id: str) -> None:
        try:
            with slack_errors():
                await self._client.chat_delete(channel=question.key.channel_id, ts=external_id)
        except UpstreamRejected as error:
            if GONE not in str(error):
                raise

    async def find(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        """Slack has no idempotency keys, so a lost post is looked up by its metadata."""
        async for message in self._thread_after(question):
            if self._is_ours(message, part):
                await self._threads.remember(question.key, message_id=str(message["ts"]))
                return str(message["ts"])
        return None

    async def _thread_after(self, question: IncomingQuestion) -> AsyncIterator[Mapping[str, Any]]:
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            with slack_errors():
                page = await self._client.conversations_replies(
                    channel=question.key.channel_id,
                    ts=question.key.thread_id,
                    oldest=question.message_id,
                    include_all_metadata=True,
                    limit=PAGE,
                    cursor=cursor,
                )
            for message in page["messages"] or ():
                yield message
            cursor = (page["response_metadata"] or {}).get("next_cursor")
            if not cursor:
                return
        raise UpstreamRejected("slack", "the thread is too long to look a message up")

    def _is_ours(self, message: Mapping[str, Any], part: OutgoingPart) -> bool:
        metadata = message.get("metadata") or {}
        return (
            message.get("user") == self._workspace.bot_user_id
            and metadata.get("event_type") == EVENT_TYPE
            and (metadata.get("event_payload") or {}).get("key") == part.key
        )


def metadata_of(part: OutgoingPart) -> dict[str, object]:
    return {"event_type": EVENT_TYPE, "event_payload": {"key": part.key}}
