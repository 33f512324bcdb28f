"""Our own messages in a thread: marked when they are posted, and known again by that."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from adapters.slack.answering.uploads import FILE
from adapters.slack.calling.team import Team
from adapters.slack.calling.thread import Message, pages_of
from rag_core.desk.incoming import IncomingQuestion

EVENT_TYPE = "footnote"
"""Any member can read a message's metadata, so it holds an opaque key and nothing else."""
MAX_PAGES = 25
"""A message that is not among the next 5,000 of its thread was not posted."""


def marked_as(key: str) -> dict[str, Any]:
    """The metadata of the message with this key."""
    return {"event_type": EVENT_TYPE, "event_payload": {"key": key}}


async def posted_as(team: Team, question: IncomingQuestion, key: str) -> str | None:
    """Our message with this key, if it was posted after the question."""
    async for message in thread_after(team, question):
        if message.get("user") == team.workspace.bot_user_id and _same(message, marked_as(key)):
            return str(message["ts"])
        for file in message.get("files") or ():
            if str(file.get("name")).startswith(key):
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


def _same(message: Message, metadata: Mapping[str, Any]) -> bool:
    own = message.get("metadata") or {}
    return {name: own.get(name) for name in metadata} == metadata
