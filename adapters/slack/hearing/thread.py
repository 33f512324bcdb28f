"""Reads what stands in a thread."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from adapters.slack.calling.calls import SERVICE
from adapters.slack.calling.team import Team
from adapters.slack.hearing.files import FILE
from adapters.slack.hearing.shapes import part, parts
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import UpstreamRejected

PAGE = 200
MAX_PAGES = 25
"""A message that is not among the next 5,000 of its thread was not posted."""

Message = Mapping[str, Any]


async def posted_as(
    team: Team, question: IncomingQuestion, metadata: Mapping[str, Any]
) -> str | None:
    """Our message that carries this metadata, if it was posted after the question."""
    async for message in thread_after(team, question):
        if message.get("user") == team.workspace.bot_user_id and _same(message, metadata):
            return str(message["ts"])
        for file in message.get("files") or ():
            if str(file.get("name")).startswith(str(metadata["event_payload"]["key"])):
                return f"{FILE}{file['id']}"
    return None


async def unnamed(team: Team, question: IncomingQuestion) -> str | None:
    """Our first message after the question that carries no metadata: a draft that was lost.

    In one thread one answer is made at a time, so it can be no other question's."""
    async for message in thread_after(team, question):
        if message.get("user") == team.workspace.bot_user_id and not message.get("metadata"):
            return str(message["ts"])
    return None


async def thread_after(team: Team, question: IncomingQuestion) -> AsyncIterator[Message]:
    after = {"oldest": question.message_id, "include_all_metadata": True}
    async for page in pages_of(team, question, most=MAX_PAGES, **after):
        for message in page:
            yield message


async def pages_of(
    team: Team, question: IncomingQuestion, *, most: int, **bounds: Any
) -> AsyncIterator[Sequence[Message]]:
    """What stands in the thread of a question, the oldest first; UpstreamRejected where there is
    more than so many pages."""
    cursor: str | None = None
    for _ in range(most):
        page = await team.call(
            "conversations.replies",
            channel=question.key.channel_id,
            ts=question.key.thread_id,
            limit=PAGE,
            cursor=cursor,
            **bounds,
        )
        yield parts(page, "messages")
        cursor = part(page, "response_metadata").get("next_cursor")
        if not cursor:
            return
    raise UpstreamRejected(SERVICE, "the thread is too long to be read")


def _same(message: Message, metadata: Mapping[str, Any]) -> bool:
    own = message.get("metadata") or {}
    return {name: own.get(name) for name in metadata} == metadata
