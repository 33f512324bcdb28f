"""The REST side of the Discord stand-in: the routes of such a bot, with their refusals."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.peers.discord_posting import Posting, require, without_content
from tests.peers.discord_rules import (
    Refused,
    check,
    check_commands,
    check_message,
    check_thread,
)
from tests.peers.discord_world import (
    DM,
    FORUM,
    THREAD_STARTER,
    Channel,
    Guild,
    Note,
    World,
    member_of,
    timestamp,
)

CONTENT_FLAG = 1 << 18
IDS = re.compile(r"/(channels|messages|applications|guilds|members)/\d+")
BY_TOKEN = re.compile(
    r"/(interactions|webhooks)/(\d+)/([^/]+)(/callback|/messages/@original|/messages/(\d+)|)"
)

Reply = tuple[int, Any]
Route = Callable[..., Awaitable[Reply]]


@dataclass(frozen=True)
class Call:
    """One request as it came in."""

    method: str
    route: str
    path: str
    body: Any
    query: dict[str, str]
    at: float = 0.0


class Routes:
    """Carries requests out on the world, and tells the gateway what happened."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.publish: Callable[..., Awaitable[None]] = nobody_listens
        self.reads_content: Callable[[], bool] = lambda: True
        self.sessions_left = 999
        self.is_public = False
        """Whether anybody may add the bot to a server."""
        self.typing: list[int] = []
        self.commands: dict[str, list[dict[str, Any]]] = {}
        self._posting = Posting(world)
        self.table: dict[str, Route] = {
            "GET /users/@me": self.me,
            "GET /users/@me/guilds": self.own_guilds,
            "POST /users/@me/channels": self.open_direct,
            "GET /oauth2/applications/@me": self.application,
            "GET /applications/@me": self.application,
            "GET /gateway/bot": self.gateway_bot,
            "GET /guilds/:g": self.guild,
            "GET /guilds/:g/channels": self.guild_channels,
            "GET /guilds/:g/threads/active": self.active_threads,
            "GET /guilds/:g/members/:m": self.member,
            "GET /channels/:c": self.channel,
            "PATCH /channels/:c": self.change_channel,
            "POST /channels/:c/typing": self.type_in,
            "GET /channels/:c/messages": self.history,
            "POST /channels/:c/messages": self.send,
            "GET /channels/:c/messages/:m": self.message,
            "PATCH /channels/:c/messages/:m": self.edit,
            "DELETE /channels/:c/messages/:m": self.delete,
            "POST /channels/:c/messages/:m/threads": self.start_thread,
            "PUT /applications/:a/commands": self.put_commands,
            "PUT /applications/:a/guilds/:g/commands": self.put_commands,
        }

    def forget_nonces(self) -> None:
        self._posting.forget()

    @property
    def flags(self) -> int:
        """What the developer portal has switched on, as applications tell it of themselves."""
        return CONTENT_FLAG if self.reads_content() else 0

    def find(self, method: str, path: str) -> tuple[str, list[str]]:
        """The route's name and the ids in its path."""
        if tokened := BY_TOKEN.fullmatch(path):
            kind, made, token, rest, note = tokened.groups()
            rest = "/messages/:m" if note else rest
            return f"{method} /{kind}/:i/:token{rest}", [made, token, *([note] if note else [])]
        name = f"{method} {IDS.sub(lambda found: f'/{found[1]}/:{found[1][0]}', path)}"
        if name not in self.table:
            raise Refused(404, 0, "404: Not Found")
        return name, re.findall(r"/(\d+)(?=/|$)", path)

    async def me(self, call: Call) -> Reply:
        return 200, self.world.bot.as_json() | {"verified": True, "mfa_enabled": True, "flags": 0}

    async def application(self, call: Call) -> Reply:
        return 200, {
            "id": str(self.world.bot.id),
            "name": self.world.bot.name,
            "description": "",
            "icon": None,
            "bot_public": self.is_public,
            "bot_require_code_grant": False,
            "verify_key": "0" * 64,
            "owner": self.world.bot.as_json(),
            "team": None,
            "flags": self.flags,
        }

    async def gateway_bot(self, call: Call) -> Reply:
        limit = {
            "total": 1000,
            "remaining": self.sessions_left,
            "reset_after": 0,
            "max_concurrency": 1,
        }
        return 200, {"url": "wss://gateway.invalid", "shards": 1, "session_start_limit": limit}

    async def guild(self, call: Call, guild_id: str) -> Reply:
        told = {"channels", "threads", "members", "voice_states", "presences", "unavailable"}
        shown = self._guild(guild_id).as_json(self.world.bot)
        return 200, {name: value for name, value in shown.items() if name not in told}

    async def guild_channels(self, call: Call, guild_id: str) -> Reply:
        return 200, self._guild(guild_id).as_json(self.world.bot)["channels"]

    async def active_threads(self, call: Call, guild_id: str) -> Reply:
        threads = self._guild(guild_id).as_json(self.world.bot)["threads"]
        return 200, {"threads": threads, "members": []}

    async def member(self, call: Call, guild_id: str, person_id: str) -> Reply:
        guild, person = self._guild(guild_id), self.world.people.get(int(person_id))
        for member in guild.as_json(self.world.bot)["members"]:
            if member["user"]["id"] == person_id:
                return 200, member
        if person is None or person in guild.strangers:  # whoever looks may not know
            return 404, Refused(404, 10007, "Unknown Member").as_json()
        return 200, member_of(person)

    def _guild(self, guild_id: str) -> Guild:
        if int(guild_id) not in self.world.guilds:
            raise Refused(404, 10004, "Unknown Guild")
        return self.world.guilds[int(guild_id)]

    async def own_guilds(self, call: Call) -> Reply:
        limit = int(call.query.get("limit", "200"))
        check(["limit: int value should be 1 to 200"] if not 1 <= limit <= 200 else [])
        after = int(call.query.get("after", "0"))
        found = [guild for guild in self.world.guilds.values() if guild.id > after][:limit]
        return 200, [{"id": str(guild.id), "name": guild.name, "owner": False} for guild in found]

    async def open_direct(self, call: Call) -> Reply:
        person = self.world.people.get(int(call.body.get("recipient_id", 0)))
        if person is None or person.bot:
            raise Refused(400, 50007, "Cannot send messages to this user")
        return 200, self.world.direct(person).as_json()

    async def channel(self, call: Call, channel_id: str) -> Reply:
        return 200, self._channel(channel_id).as_json()

    async def change_channel(self, call: Call, channel_id: str) -> Reply:
        """The tags of a forum post; others than its owner need to manage threads."""
        channel = self._channel(channel_id)
        check([f"{name}: not for this bot" for name in set(call.body) - {"applied_tags"}])
        if channel.parent is None or channel.parent.kind != FORUM:
            raise Refused(400, 50024, "Cannot execute action on this channel type")
        require(channel, "MANAGE_THREADS")
        tags = [int(tag) for tag in call.body["applied_tags"]]
        check(["applied_tags: Must be 5 or fewer in length"] if len(tags) > 5 else [])
        known = {tag["id"] for tag in channel.parent.tags}
        check(["applied_tags: unknown tag"] if {str(tag) for tag in tags} - known else [])
        channel.applied_tags = tags
        await self.publish("THREAD_UPDATE", channel.as_json())
        return 200, channel.as_json()

    async def type_in(self, call: Call, channel_id: str) -> Reply:
        channel = self._writable(channel_id)
        self.typing.append(channel.id)
        return 204, None

    async def history(self, call: Call, channel_id: str) -> Reply:
        channel = self._channel(channel_id)
        if channel.lacks("READ_MESSAGE_HISTORY"):
            return 200, []
        limit = int(call.query.get("limit", "50"))
        edges = [name for name in ("before", "after", "around") if name in call.query]
        check(["limit: int value should be 1 to 100"] if not 1 <= limit <= 100 else [])
        check([f"{edges}: exclude each other"] if len(edges) > 1 else [])
        notes = channel.notes
        if "before" in call.query:
            notes = [note for note in notes if note.id < int(call.query["before"])]
        if "after" in call.query:
            notes = [note for note in notes if note.id > int(call.query["after"])][:limit]
        if "around" in call.query:
            nearest = sorted(notes, key=lambda note: abs(note.id - int(call.query["around"])))
            notes = sorted(nearest[:limit], key=lambda note: note.id)
        return 200, [self._shown(channel, note) for note in reversed(notes[-limit:])]

    async def message(self, call: Call, channel_id: str, note_id: str) -> Reply:
        channel = self._channel(channel_id)
        return 200, self._shown(channel, self._note(channel, note_id))

    async def send(self, call: Call, channel_id: str) -> Reply:
        channel = self._writable(channel_id)
        check_message(call.body)
        if call.body.get("attachments"):
            require(channel, "ATTACH_FILES")
        known = self._posting.sent_before(channel, call.body)
        if known is not None:
            return 200, known.as_json(with_nonce=True)
        note = self._posting.note_from(channel, call.body)
        if channel.archived:
            channel.archived = False
            await self.publish("THREAD_UPDATE", channel.as_json())
        channel.notes.append(note)
        self._posting.remember(note, call.body)
        await self.publish("MESSAGE_CREATE", note, channel=channel)
        return 200, note.as_json(with_nonce=True)

    async def edit(self, call: Call, channel_id: str, note_id: str) -> Reply:
        channel = self._writable(channel_id)
        note = self._note(channel, note_id)
        if note.author is not self.world.bot:
            raise Refused(403, 50005, "Cannot edit a message authored by another user")
        check_message(call.body, edit=True)
        if "content" in call.body:
            note.content = (call.body["content"] or "").strip()
        note.embeds = call.body.get("embeds", note.embeds) or []
        note.components = call.body.get("components", note.components) or []
        note.attachments = call.body.get("attachments", note.attachments)
        note.flags = call.body.get("flags", note.flags) or note.flags
        if not (note.content or note.embeds or note.components):
            raise Refused(400, 50006, "Cannot send an empty message")
        note.edited_at = timestamp()
        await self.publish("MESSAGE_UPDATE", note, channel=channel)
        return 200, note.as_json()

    async def delete(self, call: Call, channel_id: str, note_id: str) -> Reply:
        channel = self._channel(channel_id)
        note = self._note(channel, note_id)
        if note.author is not self.world.bot:
            require(channel, "MANAGE_MESSAGES")
        channel.notes.remove(note)
        await self.publish("MESSAGE_DELETE", deletion(channel, note))
        return 204, None

    async def start_thread(self, call: Call, channel_id: str, note_id: str) -> Reply:
        channel = self._channel(channel_id)
        note = self._note(channel, note_id)
        if channel.parent is not None or channel.kind in {DM, FORUM}:
            raise Refused(400, 50024, "Cannot execute action on this channel type")
        require(channel, "CREATE_PUBLIC_THREADS")
        check_thread(call.body)
        if note.id in self.world.channels:
            raise Refused(400, 160004, "A thread has already been created for this message")
        name = call.body["name"].strip()
        thread = self.world.thread(channel, name, owner=self.world.bot, like=note.id)
        thread.auto_archive = call.body.get("auto_archive_duration") or 1440
        await self.publish("THREAD_CREATE", thread.as_json() | {"newly_created": True})
        starter = Note(self.world.ids.next(), thread.id, note.author, "", kind=THREAD_STARTER)
        starter.reference = note
        thread.notes.append(starter)
        await self.publish("MESSAGE_CREATE", starter, channel=thread)
        return 201, thread.as_json()

    async def put_commands(self, call: Call, *ids: str) -> Reply:
        check_commands(call.body)
        if int(ids[0]) != self.world.bot.id:
            raise Refused(403, 20012, "You are not authorized to perform this action")
        self.commands[call.path] = call.body
        return 200, [
            {
                "id": str(self.world.ids.next()),
                "application_id": ids[0],
                "type": 1,
                "description": "",
                "version": "1",
                "default_member_permissions": None,
                **command,
            }
            for command in call.body
        ]

    def _channel(self, channel_id: str) -> Channel:
        channel = self.world.channels.get(int(channel_id))
        if channel is None:
            raise Refused(404, 10003, "Unknown Channel")
        if channel.lacks("VIEW_CHANNEL"):
            raise Refused(403, 50001, "Missing Access")
        return channel

    def _writable(self, channel_id: str) -> Channel:
        channel = self._channel(channel_id)
        if channel.kind == FORUM:
            raise Refused(400, 50008, "Cannot send messages in a non-text channel")
        in_thread = channel.parent is not None
        require(channel, "SEND_MESSAGES_IN_THREADS" if in_thread else "SEND_MESSAGES")
        if channel.archived and channel.locked:
            raise Refused(400, 50083, "Thread is archived")
        return channel

    def _note(self, channel: Channel, note_id: str) -> Note:
        note = channel.find(int(note_id))
        if note is None:
            raise Refused(404, 10008, "Unknown Message")
        return note

    def _shown(self, channel: Channel, note: Note) -> dict[str, Any]:
        shown = note.as_json()
        return shown if self.may_read(channel, note) else without_content(shown)

    def may_read(self, channel: Channel, note: Note) -> bool:
        """Whether the bot sees what a message says."""
        bot = self.world.bot
        own = note.author is bot or bot in note.mentions or channel.kind == DM
        return own or self.reads_content()


def deletion(channel: Channel, note: Note) -> dict[str, Any]:
    shown = {"id": str(note.id), "channel_id": str(channel.id)}
    return shown if channel.guild_id is None else shown | {"guild_id": str(channel.guild_id)}


async def nobody_listens(*_: Any, **__: Any) -> None:
    """Until the gateway is there."""
