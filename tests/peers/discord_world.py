"""What the Discord stand-in keeps: people, servers, channels, threads and their messages."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

EPOCH_MS = 1_420_070_400_000
TEXT, DM, CATEGORY, THREAD, FORUM = 0, 1, 4, 11, 15
DEFAULT, RENAMED, REPLY, THREAD_STARTER = 0, 4, 19, 21
PERMISSIONS = {
    "ADD_REACTIONS": 1 << 6,
    "VIEW_CHANNEL": 1 << 10,
    "SEND_MESSAGES": 1 << 11,
    "MANAGE_MESSAGES": 1 << 13,
    "EMBED_LINKS": 1 << 14,
    "ATTACH_FILES": 1 << 15,
    "READ_MESSAGE_HISTORY": 1 << 16,
    "MENTION_EVERYONE": 1 << 17,
    "MANAGE_THREADS": 1 << 34,
    "CREATE_PUBLIC_THREADS": 1 << 35,
    "SEND_MESSAGES_IN_THREADS": 1 << 38,
}
EVERYTHING = sum(PERMISSIONS.values())
"""What a bot may do where a channel denies it nothing."""
ROLE_COLORS = {"primary_color": 0, "secondary_color": None, "tertiary_color": None}


class Snowflakes:
    """Ids that carry their time, as Discord's do; never two the same."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        moment = (int(time.time() * 1000) - EPOCH_MS) << 22
        self._last = max(self._last + 1, moment)
        return self._last


def timestamp() -> str:
    return datetime.now(UTC).isoformat()


@dataclass
class Person:
    """Somebody who writes: a member, a bot or a webhook."""

    id: int
    name: str
    bot: bool = False
    webhook: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "username": self.name,
            "discriminator": "0",
            "global_name": self.name,
            "avatar": None,
            "bot": self.bot,
        }


@dataclass
class Note:
    """A message as it stands in its channel."""

    id: int
    channel_id: int
    author: Person
    content: str
    kind: int = DEFAULT
    mentions: tuple[Person, ...] = ()
    mention_roles: tuple[int, ...] = ()
    embeds: list[dict[str, Any]] = field(default_factory=list)
    components: list[dict[str, Any]] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    flags: int = 0
    reference: Note | None = None
    nonce: str | int | None = None
    sent_at: str = field(default_factory=timestamp)
    edited_at: str | None = None
    pinged: tuple[str, ...] = ()
    """Whom this message really notified: `everyone`, `here`, or the ids of people and roles."""

    def as_json(self, *, with_nonce: bool = False, nested: bool = False) -> dict[str, Any]:
        """The message as REST shows it; its nonce is told to its sender only, and only once."""
        shown: dict[str, Any] = {
            "id": str(self.id),
            "channel_id": str(self.channel_id),
            "author": self.author.as_json(),
            "content": self.content,
            "timestamp": self.sent_at,
            "edited_timestamp": self.edited_at,
            "tts": False,
            "mention_everyone": "everyone" in self.pinged or "here" in self.pinged,
            "mentions": [person.as_json() for person in self.mentions],
            "mention_roles": [str(role) for role in self.mention_roles],
            "attachments": self.attachments,
            "embeds": self.embeds,
            "components": self.components,
            "pinned": False,
            "type": self.kind,
            "flags": self.flags,
        }
        if self.author.webhook:
            shown["webhook_id"] = str(self.author.id)
        if with_nonce and self.nonce is not None:
            shown["nonce"] = self.nonce
        if self.reference is not None and not nested:
            shown["message_reference"] = {
                "type": 0,
                "message_id": str(self.reference.id),
                "channel_id": str(self.reference.channel_id),
            }
            shown["referenced_message"] = self.reference.as_json(nested=True)
        return shown


@dataclass
class Channel:
    """A text channel, a thread or a direct conversation, with its messages oldest first."""

    id: int
    kind: int
    name: str = ""
    guild_id: int | None = None
    parent: Channel | None = None
    owner_id: int | None = None
    recipient: Person | None = None
    archived: bool = False
    locked: bool = False
    auto_archive: int = 1440
    category_id: int | None = None
    tags: list[dict[str, Any]] = field(default_factory=list)
    """Of a forum: the tags that its posts may wear."""
    applied_tags: list[int] = field(default_factory=list)
    made_at: str = field(default_factory=timestamp)
    notes: list[Note] = field(default_factory=list)
    denied: set[str] = field(default_factory=set)
    """Permissions that the bot lacks here; a thread lacks those of its channel too."""

    def lacks(self, permission: str) -> bool:
        return permission in self.denied or bool(self.parent and self.parent.lacks(permission))

    def _overwrites(self) -> list[dict[str, Any]]:
        """What is denied here is denied to everybody."""
        if not self.denied:
            return []
        bits = sum(PERMISSIONS[name] for name in self.denied)
        return [{"id": str(self.guild_id), "type": 0, "allow": "0", "deny": str(bits)}]

    def find(self, note_id: int) -> Note | None:
        return next((note for note in self.notes if note.id == note_id), None)

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "id": str(self.id),
            "type": self.kind,
            "last_message_id": str(self.notes[-1].id) if self.notes else None,
        }
        if self.recipient is not None:
            return shown | {"recipients": [self.recipient.as_json()]}
        shown |= {"guild_id": str(self.guild_id), "name": self.name, "rate_limit_per_user": 0}
        if self.parent is None:
            return shown | {
                "position": 0,
                "permission_overwrites": self._overwrites(),
                "nsfw": False,
                "parent_id": str(self.category_id) if self.category_id else None,
                "topic": None,
                "available_tags": self.tags,
            }
        return shown | {
            "parent_id": str(self.parent.id),
            "owner_id": str(self.owner_id),
            "applied_tags": [str(tag) for tag in self.applied_tags],
            "message_count": len(self.notes),
            "member_count": 1,
            "thread_metadata": {
                "archived": self.archived,
                "auto_archive_duration": self.auto_archive,
                "archive_timestamp": self.made_at,
                "locked": self.locked,
                "create_timestamp": self.made_at,
            },
        }


@dataclass
class Guild:
    """A course server."""

    id: int
    name: str
    owner: Person
    bot_role_id: int
    channels: list[Channel] = field(default_factory=list)
    roles: dict[int, str] = field(default_factory=dict)
    """Beside the two that are always there."""
    strangers: list[Person] = field(default_factory=list)
    """Who is no member; everybody else is one."""
    system_channel: Channel | None = None

    def as_json(self, bot: Person) -> dict[str, Any]:
        top = [channel for channel in self.channels if channel.parent is None]
        threads = [c for c in self.channels if c.parent is not None and not c.archived]
        return {
            "id": str(self.id),
            "name": self.name,
            "owner_id": str(self.owner.id),
            "system_channel_id": str(self.system_channel.id) if self.system_channel else None,
            "roles": [
                _role(self.id, "@everyone"),
                _role(self.bot_role_id, bot.name, bot_id=bot.id),
                *(_role(role, name) for role, name in self.roles.items()),
            ],
            "channels": [channel.as_json() for channel in top],
            "threads": [thread.as_json() for thread in threads],
            "members": [member_of(bot, self.bot_role_id)],
            "member_count": 2,
            "emojis": [],
            "stickers": [],
            "features": [],
            "voice_states": [],
            "presences": [],
            "preferred_locale": "en-US",
            "joined_at": timestamp(),
            "large": False,
            "unavailable": False,
        }


def _role(role_id: int, name: str, *, bot_id: int | None = None) -> dict[str, Any]:
    return {
        "id": str(role_id),
        "name": name,
        "color": 0,
        "colors": ROLE_COLORS,
        "hoist": False,
        "position": 0 if bot_id is None else 1,
        "permissions": str(EVERYTHING),
        "managed": bot_id is not None,
        "mentionable": False,
        "flags": 0,
        **({} if bot_id is None else {"tags": {"bot_id": str(bot_id)}}),
    }


def member_of(person: Person, *roles: int) -> dict[str, Any]:
    return {
        "user": person.as_json(),
        "roles": [str(role) for role in roles],
        "joined_at": timestamp(),
        "deaf": False,
        "mute": False,
        "flags": 0,
    }


class World:
    """Everything there is on this Discord."""

    def __init__(self) -> None:
        self.ids = Snowflakes()
        self.people: dict[int, Person] = {}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.bot = self.person("Footnote", bot=True)

    def person(self, name: str, *, bot: bool = False, webhook: bool = False) -> Person:
        made = Person(self.ids.next(), name, bot=bot, webhook=webhook)
        self.people[made.id] = made
        return made

    def guild(self, name: str = "Course") -> Guild:
        made = Guild(self.ids.next(), name, self.person("owner"), self.ids.next())
        self.guilds[made.id] = made
        return made

    def text_channel(self, guild: Guild, name: str = "help", *, kind: int = TEXT) -> Channel:
        return self._keep(Channel(self.ids.next(), kind, name, guild.id), guild)

    def tag(self, forum: Channel, name: str) -> int:
        """A tag that posts of a forum may wear."""
        made = self.ids.next()
        tag = {"id": str(made), "name": name, "moderated": False}
        forum.tags.append(tag | {"emoji_id": None, "emoji_name": None})
        return made

    def thread(
        self, parent: Channel, name: str, *, owner: Person, like: int | None = None
    ) -> Channel:
        """A thread below a channel; one that grows from a message has the message's id."""
        assert parent.guild_id is not None
        made = Channel(
            like or self.ids.next(), THREAD, name, parent.guild_id, parent=parent, owner_id=owner.id
        )
        return self._keep(made, self.guilds[parent.guild_id])

    def wrote_long_ago(self, channel: Channel, person: Person, text: str) -> None:
        """A message that is older than everything that was missed."""
        two_days = 2 * 86_400_000 << 22
        channel.notes.insert(0, Note(self.ids.next() - two_days, channel.id, person, text))

    def direct(self, person: Person) -> Channel:
        known = (c for c in self.channels.values() if c.recipient is person)
        made = next(known, None) or Channel(self.ids.next(), DM, recipient=person)
        self.channels[made.id] = made
        return made

    def _keep(self, channel: Channel, guild: Guild) -> Channel:
        self.channels[channel.id] = channel
        guild.channels.append(channel)
        return channel
