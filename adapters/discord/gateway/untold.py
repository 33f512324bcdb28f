"""What whoever stands in Discord's place may leave out, and the library reads all the same."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from adapters.discord.gateway.errors import UNREADABLE

log = logging.getLogger(__name__)

Read = Callable[[Any], Any]
DIRECT, THREADS = 1, frozenset({10, 11, 12})
"""Kinds of channels."""
PERSON: Mapping[str, Any] = {"username": "", "discriminator": "0", "avatar": None}
APPLICATION: Mapping[str, Any] = {
    "name": "",
    "description": "",
    "icon": None,
    "bot_public": True,
    "bot_require_code_grant": False,
    "verify_key": "",
}
"""Nothing of this is used."""
MESSAGE: Mapping[str, Any] = {
    "type": 0,
    "tts": False,
    "pinned": False,
    "mention_everyone": False,
    "edited_timestamp": None,
    "embeds": (),
    "attachments": (),
    "mentions": (),
    "mention_roles": (),
}
METADATA: Mapping[str, Any] = {
    "archived": False,
    "auto_archive_duration": 1440,
    "archive_timestamp": None,
}
THREAD: Mapping[str, Any] = {"name": "", "owner_id": "0", "message_count": 0, "member_count": 0}
CHANNEL: Mapping[str, Any] = {"name": "", "position": 0, "bitrate": 64_000, "user_limit": 0}
MEMBER: Mapping[str, Any] = {"roles": (), "joined_at": None, "flags": 0}
USE: Mapping[str, Any] = {"version": 1, "attachment_size_limit": 0}
"""Of a command or a button."""


def whole_application(told: Mapping[str, Any]) -> dict[str, Any]:
    owner = {"id": "0", **PERSON, **(told.get("owner") or {})}
    return {**APPLICATION, **told, "owner": owner}


def whole_message(told: Any) -> Any:
    """A message that says who wrote what; an update without its words is left as it came."""
    if not (isinstance(told, dict) and "content" in told and isinstance(told.get("author"), dict)):
        return told
    said = present(told)
    if "thread" in said:
        said["thread"] = whole_thread(said["thread"])
    if reference := said.pop("message_reference", None):
        said["message_reference"] = {"channel_id": told.get("channel_id"), **reference}
    return {**MESSAGE, **said, "author": {**PERSON, **told["author"]}}


def whole_use(told: Any) -> Any:
    """An interaction that says who did what where; the channel may be told by its id alone."""
    if not isinstance(told, dict):
        return told
    said = present(told)
    if (person := said.get("member", said).get("user")) and "guild_id" in said:
        said["member"] = whole_member({**said.get("member", {}), "user": person})
    if "message" in said:
        said["message"] = whole_message(said["message"])
    channel = {"id": said.get("channel_id"), **({} if "guild_id" in said else {"type": DIRECT})}
    return {**USE, "channel": channel, **said}


def whole_thread(told: Any) -> Any:
    if not isinstance(told, dict):
        return told
    said = present(told)
    return {**THREAD, **said, "thread_metadata": {**METADATA, **said.get("thread_metadata", {})}}


def whole_channel(told: Any) -> Any:
    if not isinstance(told, dict):
        return told
    return whole_thread(told) if told.get("type") in THREADS else {**CHANNEL, **told}


def whole_member(told: Any) -> Any:
    if not isinstance(told, dict) or not isinstance(told.get("user"), dict):
        return told
    return {**MEMBER, **told, "user": {**PERSON, **told["user"]}}


def whole_server(told: Any) -> Any:
    """A server with its channels and threads, and who of its members was told."""
    if not isinstance(told, dict):
        return told
    return {**told, **each(told, "channels", whole_channel), **each(told, "threads", whole_thread),
            **each(told, "members", whole_member)}  # fmt: skip


def whole_threads(told: Any) -> Any:
    return {**told, **each(told, "threads", whole_thread)} if isinstance(told, dict) else told


def whole_beginning(told: Any) -> Any:
    """What a session begins with: who we are. A gateway that knows of no shards says nothing of
    them; then there is one."""
    return {"guilds": (), "shard": [0, 1], **told, "user": {**PERSON, **told["user"]}}


def each(told: Mapping[str, Any], name: str, whole: Callable[[Any], Any]) -> dict[str, Any]:
    """One list of what was told, completed; nothing where there is no such list."""
    listed = told.get(name)
    return {name: [whole(one) for one in listed]} if isinstance(listed, list) else {}


def present(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if value is not None}


COMPLETED: Mapping[str, Read] = {
    "GUILD_CREATE": whole_server,
    "CHANNEL_CREATE": whole_channel,
    "CHANNEL_UPDATE": whole_channel,
    "THREAD_CREATE": whole_thread,
    "THREAD_UPDATE": whole_thread,
    "THREAD_LIST_SYNC": whole_threads,
    "MESSAGE_CREATE": whole_message,
    "MESSAGE_UPDATE": whole_message,
    "INTERACTION_CREATE": whole_use,
}


def reading(event: str, read: Read) -> Read:
    """Read an event as the library does. What it cannot read is left alone: it must not end the
    connection, and the session with it."""
    completed = COMPLETED.get(event)

    def try_to(told: Any) -> None:
        try:
            read(completed(told) if completed else told)
        except UNREADABLE as error:
            # Where, too: a defect in how we complete it would show here as well.
            place = traceback.extract_tb(error.__traceback__)[-1]
            log.warning(
                "an event of Discord's was left unread",
                extra={
                    "event": event,
                    "cause": type(error).__name__,
                    "at": f"{place.filename}:{place.lineno}",
                },
            )

    return try_to
