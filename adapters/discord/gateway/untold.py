"""What whoever stands in Discord's place may leave out, and the library reads all the same."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from adapters.discord.gateway.errors import UNREADABLE

log = logging.getLogger(__name__)

Read = Callable[[Any], Any]
PERSON: Mapping[str, Any] = {"username": "", "discriminator": "0", "avatar": None}
APPLICATION: Mapping[str, Any] = {
    "name": "",
    "description": "",
    "icon": None,
    "bot_public": True,
    "bot_require_code_grant": False,
    "owner": {"id": "0", **PERSON},
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
USE: Mapping[str, Any] = {"version": 1, "attachment_size_limit": 0}
"""Of a command or a button."""


def whole_application(told: Mapping[str, Any]) -> dict[str, Any]:
    return {**APPLICATION, **told}


def whole_message(told: Any) -> Any:
    """A message that says who wrote what; an update without its words is left as it came."""
    if not (isinstance(told, dict) and "content" in told and isinstance(told.get("author"), dict)):
        return told
    said = {name: value for name, value in told.items() if value is not None}
    if reference := said.pop("message_reference", None):
        said["message_reference"] = {"channel_id": told.get("channel_id"), **reference}
    return {**MESSAGE, **said, "author": {**PERSON, **told["author"]}}


def whole_use(told: Any) -> Any:
    """An interaction that says who did what where; the channel may be told by its id alone."""
    if not isinstance(told, dict):
        return told
    said = {name: value for name, value in told.items() if value is not None}
    if (person := said.get("member", said).get("user")) and "guild_id" in said:
        member = {"roles": [], "flags": 0, **said.get("member", {})}
        said["member"] = {**member, "user": {**PERSON, **person}}
    if "message" in said:
        said["message"] = whole_message(said["message"])
    return {**USE, "channel": {"id": said.get("channel_id")}, **said}


COMPLETED: Mapping[str, Read] = {
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
            log.warning(
                "an event of Discord's was left unread",
                extra={"event": event, "cause": type(error).__name__},
            )

    return try_to
