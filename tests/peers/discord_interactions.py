"""Interactions on the Discord stand-in: commands, buttons and forms, with their deadlines."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tests.peers.discord_interaction_rules import (
    ALLOWED_CALLBACKS,
    EPHEMERAL,
    LOADING,
    check_choices,
    check_modal,
    check_options,
    check_reply,
)
from tests.peers.discord_posting import Posting
from tests.peers.discord_rest import Call, Reply, Routes
from tests.peers.discord_rules import Refused, check, nested
from tests.peers.discord_world import Channel, Note, Person, timestamp

COMMAND, COMPONENT, AUTOCOMPLETE, MODAL = 2, 3, 4, 5
SLASH, MENU = 1, 3
MESSAGE, DEFER, DEFER_UPDATE, UPDATE, CHOICES, FORM = 4, 5, 6, 7, 8, 9
ANSWER_SECONDS, TOKEN_SECONDS = 3.0, 15 * 60.0
CALLBACK = "POST /interactions/:i/:token/callback"
FOLLOW_UP = "POST /webhooks/:i/:token"
ORIGINAL = "/webhooks/:i/:token/messages/@original"
ONE = "/webhooks/:i/:token/messages/:m"


class Clock:
    """The time on this Discord; a test can move it."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def now(self) -> float:
        return time.monotonic() + self._ahead

    def move(self, seconds: float) -> None:
        self._ahead += seconds


@dataclass
class Interaction:
    """Something that somebody did, and what the bot made of it."""

    id: int
    token: str
    kind: int
    person: Person
    channel: Channel
    made_at: float
    message: Note | None = None
    callback: int | None = None
    answered_at: float | None = None
    private: bool = False
    original: Note | None = None
    follow_ups: list[Note] = field(default_factory=list)
    choices: list[dict[str, Any]] | None = None
    modal: dict[str, Any] | None = None

    @property
    def shown(self) -> list[Note]:
        """What people see of the answer, the sign that it is being worked on left out."""
        notes = [*([self.original] if self.original else []), *self.follow_ups]
        return [note for note in notes if not note.flags & LOADING]

    @property
    def texts(self) -> list[str]:
        return [note.content for note in self.shown]


class Interactions:
    """Makes interactions, and takes the bot's answers to them as strictly as Discord does."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        self._world = routes.world
        self._posting = Posting(routes.world)
        self._made: dict[str, Interaction] = {}
        self.clock = Clock()
        self.roles: dict[int, list[str]] = {}
        """The roles of people, by their id."""
        self.permissions: dict[int, int] = {}
        routes.table |= {
            CALLBACK: self.answer,
            FOLLOW_UP: self.follow_up,
            f"GET {ORIGINAL}": self.original,
            f"PATCH {ORIGINAL}": self.edit_original,
            f"DELETE {ORIGINAL}": self.delete_original,
            f"PATCH {ONE}": self.edit_one,
            f"DELETE {ONE}": self.delete_one,
        }

    # What a test does

    async def slash(
        self, channel: Channel, person: Person, name: str, /, **options: Any
    ) -> Interaction:
        """Somebody uses a slash command, or `group command`; the client sends only what its
        options allow."""
        command, *sub = name.split(" ")
        registered = self._registered(SLASH, command, channel)
        for part in sub:
            registered = next(o for o in registered["options"] if o["name"] == part)
        check_options(registered, options)
        shown = within_groups(sub, shown_options(options))
        data = self._command(SLASH, command) | {"options": shown}
        pointed = {str(o.id): o.as_json() for o in options.values() if isinstance(o, Channel)}
        data |= {"resolved": {"channels": pointed}} if pointed else {}
        return await self._make(COMMAND, channel, person, data)

    async def complete(
        self, channel: Channel, person: Person, name: str, focused: str, value: str
    ) -> Interaction:
        """Somebody types in an option that asks the bot for choices."""
        command, *sub = name.split(" ")
        registered = self._registered(SLASH, command, channel)
        for part in sub:
            registered = next(o for o in registered["options"] if o["name"] == part)
        option = next(o for o in registered["options"] if o["name"] == focused)
        assert option.get("autocomplete"), f"{name} {focused} is not completed"
        options = [option | {"focused": True} for option in shown_options({focused: value})]
        data = self._command(SLASH, command) | {"options": within_groups(sub, options)}
        return await self._make(AUTOCOMPLETE, channel, person, data)

    async def menu(self, note: Note, person: Person, name: str) -> Interaction:
        """Somebody uses a command of a message's menu; its text is told with it."""
        self._registered(MENU, name, self._world.channels[note.channel_id])
        resolved = {"messages": {str(note.id): note.as_json()}}
        data = self._command(MENU, name) | {"target_id": str(note.id), "resolved": resolved}
        return await self._make(COMMAND, self._world.channels[note.channel_id], person, data)

    async def press(self, note: Note, person: Person, label: str) -> Interaction:
        """Somebody presses a button of a message."""
        buttons = [item for item in nested(note.components) if item.get("label") == label]
        assert len(buttons) == 1, f"the message has no button {label!r}"
        data = {"component_type": buttons[0]["type"], "custom_id": buttons[0]["custom_id"]}
        channel = self._world.channels[note.channel_id]
        return await self._make(COMPONENT, channel, person, data, message=note)

    async def submit(self, form: Interaction, *values: str) -> Interaction:
        """Somebody fills in the form that an interaction was answered with, and sends it."""
        assert form.modal is not None, "there is no form"
        rows = [
            {"type": 1, "components": [item | {"value": value} for item in row["components"]]}
            for row, value in zip(form.modal["components"], values, strict=True)
        ]
        data = {"custom_id": form.modal["custom_id"], "components": rows}
        return await self._make(MODAL, form.channel, form.person, data, message=form.message)

    async def _make(
        self,
        kind: int,
        channel: Channel,
        person: Person,
        data: dict[str, Any],
        message: Note | None = None,
    ) -> Interaction:
        made = Interaction(
            self._world.ids.next(),
            f"aW50ZXJhY3Rpb24{uuid4().hex}",
            kind,
            person,
            channel,
            self.clock.now(),
            message,
        )
        self._made[made.token] = made
        await self._routes.publish("INTERACTION_CREATE", self._event(made, data))
        return made

    def _event(self, made: Interaction, data: dict[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "id": str(made.id),
            "application_id": str(self._world.bot.id),
            "type": made.kind,
            "token": made.token,
            "version": 1,
            "data": data,
            "channel_id": str(made.channel.id),
            "channel": made.channel.as_json(),
            "locale": "en-US",
            "attachment_size_limit": 10_485_760,
            "app_permissions": "0",
            "entitlements": [],
            "authorizing_integration_owners": {},
        }
        if made.message is not None:
            shown["message"] = made.message.as_json()
        if made.channel.guild_id is None:
            return shown | {"user": made.person.as_json(), "context": 1}
        member = {"user": made.person.as_json(), "joined_at": timestamp()}
        member["roles"] = self.roles.get(made.person.id, [])
        member["permissions"] = str(self.permissions.get(made.person.id, 0))
        member |= {"deaf": False, "mute": False, "flags": 0}
        guild = str(made.channel.guild_id)
        return shown | {"guild_id": guild, "guild_locale": "en-US", "member": member, "context": 0}

    def _registered(self, kind: int, name: str, channel: Channel) -> Mapping[str, Any]:
        """A command that shows there: registered everywhere, or on that server."""
        base = f"/applications/{self._world.bot.id}"
        for path in (f"{base}/commands", f"{base}/guilds/{channel.guild_id}/commands"):
            for command in self._routes.commands.get(path, []):
                if (command.get("type", SLASH), command["name"]) == (kind, name):
                    return command
        raise AssertionError(f"the command {name!r} is not registered")

    def _command(self, kind: int, name: str) -> dict[str, Any]:
        return {"id": str(self._world.ids.next()), "name": name, "type": kind}

    # What the bot does

    async def answer(self, call: Call, interaction_id: str, token: str) -> Reply:
        made = self._made.get(token)
        if made is None or made.id != int(interaction_id):
            raise Refused(404, 10062, "Unknown interaction")
        if made.callback is not None:
            raise Refused(400, 40060, "Interaction has already been acknowledged.")
        if self.clock.now() - made.made_at > ANSWER_SECONDS:
            raise Refused(404, 10062, "Unknown interaction")
        kind, data = call.body["type"], call.body.get("data") or {}
        if kind not in ALLOWED_CALLBACKS[made.kind]:
            raise Refused(400, 50035, "Invalid Form Body", [f"type: {kind} is not valid here"])
        await self._carry_out(made, kind, data)
        made.callback, made.answered_at = kind, self.clock.now()
        if call.query.get("with_response") not in {"1", "true"}:
            return 204, None
        shown: dict[str, Any] = {"id": str(made.id), "type": made.kind}
        if made.original is not None and kind in {MESSAGE, DEFER}:
            shown |= {"response_message_id": str(made.original.id)}
            shown |= {"response_message_ephemeral": made.private}
        return 200, {"interaction": shown}

    async def _carry_out(self, made: Interaction, kind: int, data: dict[str, Any]) -> None:
        if kind == CHOICES:
            check_choices(data)
            made.choices = data["choices"]
        elif kind == FORM:
            check_modal(data)
            made.modal = data
        elif kind == DEFER:
            check(["flags"] if data.get("flags", 0) & ~EPHEMERAL else [])
            made.private = bool(data.get("flags", 0) & EPHEMERAL)
            made.original = await self._write(made, {"flags": data.get("flags", 0) | LOADING})
        elif kind == MESSAGE:
            check_reply(data)
            made.private = bool(data.get("flags", 0) & EPHEMERAL)
            made.original = await self._write(made, data)
        else:
            made.original = made.message
            if kind == UPDATE:
                check_reply(data, edit=True)
                await self._change(self._original(made), data)

    async def follow_up(self, call: Call, application_id: str, token: str) -> Reply:
        made = self._open(application_id, token)
        check_reply(call.body)
        note = await self._write(made, call.body)
        made.follow_ups.append(note)
        return (200, note.as_json()) if call.query.get("wait") in {"1", "true"} else (204, None)

    async def original(self, call: Call, application_id: str, token: str) -> Reply:
        return 200, self._original(self._open(application_id, token)).as_json()

    async def edit_original(self, call: Call, application_id: str, token: str) -> Reply:
        made = self._open(application_id, token)
        note = self._original(made)
        check_reply(call.body, edit=True)
        await self._change(note, call.body)
        return 200, note.as_json()

    async def delete_original(self, call: Call, application_id: str, token: str) -> Reply:
        made = self._open(application_id, token)
        note, made.original = self._original(made), None
        if note in made.channel.notes:
            made.channel.notes.remove(note)
        return 204, None

    async def edit_one(self, call: Call, application_id: str, token: str, note_id: str) -> Reply:
        note = self._one(self._open(application_id, token), note_id)
        check_reply(call.body, edit=True)
        await self._change(note, call.body)
        return 200, note.as_json()

    async def delete_one(self, call: Call, application_id: str, token: str, note_id: str) -> Reply:
        made = self._open(application_id, token)
        note = self._one(made, note_id)
        if note is made.original:
            made.original = None
        else:
            made.follow_ups.remove(note)
        if note in made.channel.notes:
            made.channel.notes.remove(note)
        return 204, None

    def _one(self, made: Interaction, note_id: str) -> Note:
        mine = [*([made.original] if made.original else []), *made.follow_ups]
        for note in mine:
            if note.id == int(note_id):
                return note
        raise Refused(404, 10008, "Unknown Message")

    def _open(self, application_id: str, token: str) -> Interaction:
        made = self._made.get(token)
        if made is None or int(application_id) != self._world.bot.id or made.callback is None:
            raise Refused(404, 10015, "Unknown Webhook")
        if self.clock.now() - made.made_at > TOKEN_SECONDS:
            raise Refused(401, 50027, "Invalid Webhook Token")
        return made

    def _original(self, made: Interaction) -> Note:
        if made.original is None:
            raise Refused(404, 10008, "Unknown Message")
        return made.original

    async def _write(self, made: Interaction, body: dict[str, Any]) -> Note:
        """A private message is shown to one person and stands in no channel."""
        note = self._posting.note_from(made.channel, body)
        note.nonce = None
        if not note.flags & EPHEMERAL:
            made.channel.notes.append(note)
            await self._routes.publish("MESSAGE_CREATE", note, channel=made.channel)
        return note

    async def _change(self, note: Note, body: dict[str, Any]) -> None:
        channel = self._world.channels[note.channel_id]
        merged = {"content": note.content, "components": note.components} | body
        changed = self._posting.note_from(channel, merged)
        note.content, note.components = changed.content, changed.components
        note.attachments = body.get("attachments", note.attachments)
        note.pinged += changed.pinged
        note.flags = (note.flags & ~LOADING) | body.get("flags", 0)
        if not (note.content or note.components):
            raise Refused(400, 50006, "Cannot send an empty message")
        if not note.flags & EPHEMERAL:
            await self._routes.publish("MESSAGE_UPDATE", note, channel=channel)


def shown_options(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    kinds = {str: 3, int: 4, bool: 5, Channel: 7}
    return [
        {"name": n, "type": kinds[type(v)], "value": str(v.id) if isinstance(v, Channel) else v}
        for n, v in options.items()
    ]


def within_groups(names: list[str], options: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for name in reversed(names):
        options = [{"name": name, "type": 1, "options": options}]
    return options
