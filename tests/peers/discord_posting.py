"""What the Discord stand-in makes of a post: one message a nonce, pinging whom it may."""

from __future__ import annotations

import re
from typing import Any

from tests.peers.discord_rules import SUPPRESS_EMBEDS, Refused
from tests.peers.discord_world import REPLY, Channel, Note, World

USER_MENTION = re.compile(r"<@!?(\d+)>")
ROLE_MENTION = re.compile(r"<@&(\d+)>")


def require(channel: Channel, permission: str) -> None:
    if channel.lacks(permission):
        raise Refused(403, 50013, "Missing Permissions")


class Posting:
    """Makes messages, and knows by their nonces which are there already."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._nonces: dict[tuple[int, str], int] = {}

    def forget(self) -> None:
        """As Discord does after a few minutes."""
        self._nonces.clear()

    def remember(self, note: Note, body: dict[str, Any]) -> None:
        if body.get("enforce_nonce"):
            self._nonces[note.channel_id, str(body["nonce"])] = note.id

    def sent_before(self, channel: Channel, body: dict[str, Any]) -> Note | None:
        if not body.get("enforce_nonce"):
            return None
        note_id = self._nonces.get((channel.id, str(body["nonce"])))
        if note_id is None:
            return None
        known = channel.find(note_id)
        if known is None:
            raise Refused(404, 10008, "Unknown Message")
        return known

    def note_from(self, channel: Channel, body: dict[str, Any]) -> Note:
        content = (body.get("content") or "").strip()
        flags = body.get("flags", 0)
        note = Note(
            self._world.ids.next(),
            channel.id,
            self._world.bot,
            content,
            embeds=[] if flags & SUPPRESS_EMBEDS else body.get("embeds") or [],
            components=body.get("components") or [],
            attachments=body.get("attachments") or [],
            flags=flags,
            nonce=body.get("nonce"),
            reference=self._reference(channel, body.get("message_reference")),
        )
        note.kind = REPLY if note.reference else 0
        note.mentions = tuple(
            self._world.people[int(found)]
            for found in dict.fromkeys(USER_MENTION.findall(content))
            if int(found) in self._world.people
        )
        note.pinged = pinged(note, body.get("allowed_mentions"))
        return note

    def _reference(self, channel: Channel, reference: dict[str, Any] | None) -> Note | None:
        if not reference:
            return None
        require(channel, "READ_MESSAGE_HISTORY")
        found = channel.find(int(reference["message_id"]))
        if found is None and reference.get("fail_if_not_exists", True):
            raise Refused(400, 50035, "Invalid Form Body", ["message_reference: Unknown message"])
        return found


def pinged(note: Note, allowed: dict[str, Any] | None) -> tuple[str, ...]:
    """Whom a message notifies: everybody it names, unless allowed_mentions says less."""
    parse = {"everyone", "users", "roles"} if allowed is None else set(allowed.get("parse", []))
    listed = allowed or {}
    who = [name for name in ("everyone", "here") if f"@{name}" in note.content]
    who = who if "everyone" in parse else []
    for kind, pattern in (("users", USER_MENTION), ("roles", ROLE_MENTION)):
        for found in pattern.findall(note.content):
            if kind in parse or found in [str(each) for each in listed.get(kind) or []]:
                who.append(found)
    if note.reference is not None and (allowed is None or listed.get("replied_user")):
        who.append(str(note.reference.author.id))
    return tuple(who)


def without_content(shown: dict[str, Any]) -> dict[str, Any]:
    hidden = shown | {"content": "", "embeds": [], "attachments": [], "components": []}
    if hidden.get("referenced_message"):
        hidden["referenced_message"] = without_content(hidden["referenced_message"])
    return hidden
