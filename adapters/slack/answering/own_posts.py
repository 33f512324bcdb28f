"""Our own messages in a thread: marked when they are posted, and known again by that."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from adapters.slack.answering.uploads import FILE
from adapters.slack.calling.team import Team
from adapters.slack.calling.thread import Message, pages_of
from rag_core.desk.incoming import IncomingQuestion

EVENT_TYPE = "footnote"
"""Any member can read a message's metadata, so it holds an opaque key and nothing else."""
GONE = frozenset(
    {
        "cant_delete_message",
        "cant_update_message",
        "edit_window_closed",
        "file_not_found",
        "message_not_found",
    }
)
"""Slack's words on a message that cannot be changed any more."""
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


async def unnamed(
    team: Team,
    question: IncomingQuestion,
    *,
    but_not: Callable[[str, str], bool] = lambda channel, ts: False,
) -> str | None:
    """Our first message after the question that carries no metadata: a draft that was lost.

    In one thread one answer is made at a time, so while one is made it can be no other
    question's; later `but_not` tells the drafts that are. A file carries no metadata either."""
    async for message in thread_after(team, question):
        ours = message.get("user") == team.workspace.bot_user_id
        bare = not message.get("metadata") and not message.get("files")
        if ours and bare and not but_not(question.key.channel_id, str(message["ts"])):
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
