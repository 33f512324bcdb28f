"""A workspace as its people see it: channels, threads and what was said in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.peers.slack_rules import Refused, pings_in, texts_of, unescaped

TEAM, APP = "T0TEAM", "A0FOOTNOTE"
BOT_USER, BOT = "U0FOOTNOTE", "B0FOOTNOTE"
GENERAL, DIRECT, ELSEWHERE = "C0GENERAL", "D0ANN", "C0ELSEWHERE"
ANN, BEN, CLEO = "U0ANN", "U0BEN", "U0CLEO"
"""CLEO runs the workspace."""
FIRST_SECOND = 1_790_000_000


@dataclass
class SlackMessage:
    """One message as it stands in its channel."""

    ts: str
    channel: str
    user: str
    text: str
    thread_ts: str | None = None
    blocks: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, Any] | None = None
    bot_id: str | None = None
    edited: bool = False
    edited_at: str = ""
    buried: bool = False
    """Deleted, with replies that keep its place."""
    unfurls: bool = False
    files: list[dict[str, Any]] = field(default_factory=list)
    home: str = TEAM
    """The workspace of whoever wrote it."""
    is_from_outside: bool = False

    @property
    def seen(self) -> str:
        """What a reader sees."""
        return unescaped("\n".join(texts_of(self.blocks)) if self.blocks else self.text)

    @property
    def pings(self) -> list[str]:
        return pings_in({"text": self.text, "blocks": self.blocks})

    def as_slack(self, *, with_metadata: bool) -> dict[str, Any]:
        message: dict[str, Any] = {
            "type": "message",
            "ts": self.ts,
            "user": self.user,
            "text": self.text,
            "team": self.home,
        }
        if self.is_from_outside:
            message |= {"user_team": self.home, "source_team": self.home}
        if self.thread_ts:
            message["thread_ts"] = self.thread_ts
        if self.files:
            message["files"] = self.files
        if self.blocks:
            message["blocks"] = self.blocks
        if self.bot_id:
            message |= {"bot_id": self.bot_id, "app_id": APP}
        if self.edited_at:
            message["edited"] = {"user": self.user, "ts": self.edited_at}
        if self.buried:
            message |= {"subtype": "tombstone", "user": "USLACKBOT", "hidden": True}
        if self.metadata and with_metadata:
            message["metadata"] = self.metadata
        return message


@dataclass
class SlackChannel:
    """A place to talk: public (`channel`), private (`group`), direct (`im`) or `mpim`."""

    id: str
    kind: str
    members: set[str]
    archived: bool = False
    messages: dict[str, SlackMessage] = field(default_factory=dict)


class SlackWorld:
    """Who is there, what was said, and in which order."""

    def __init__(self, team: str = TEAM) -> None:
        self.team = team
        self.channels = {
            GENERAL: SlackChannel(GENERAL, "channel", {ANN, BEN, CLEO, BOT_USER}),
            ELSEWHERE: SlackChannel(ELSEWHERE, "channel", {ANN, BEN}),
            DIRECT: SlackChannel(DIRECT, "im", {ANN, BOT_USER}),
        }
        self.users = {ANN: "ann", BEN: "ben", CLEO: "cleo", BOT_USER: "footnote"}
        self.locales: dict[str, str] = {}
        self.admins = {CLEO}
        self.groups: dict[str, list[str]] = {}
        """User groups, and who belongs to them."""
        self.home_of: dict[str, str] = {}
        """The workspaces of people who are guests from elsewhere."""
        self.statuses: list[tuple[str, str, str]] = []
        self._ticks = count(1)

    def next_ts(self) -> str:
        tick = next(self._ticks)
        return f"{FIRST_SECOND + tick}.{tick % 1_000_000:06d}"

    def channel(self, channel_id: Any, *, posting: bool = False) -> SlackChannel:
        """A channel that the bot may read, or post to."""
        if posting:  # a person's id stands for the direct messages with them
            channel_id = {ANN: DIRECT}.get(channel_id, channel_id)
        channel = self.channels.get(channel_id)
        if channel is None:
            raise Refused("channel_not_found", str(channel_id))
        if BOT_USER not in channel.members:
            raise Refused("not_in_channel", channel.id)
        if posting and channel.archived:
            raise Refused("is_archived", channel.id)
        return channel

    def add(self, message: SlackMessage) -> SlackMessage:
        channel = self.channels[message.channel]
        message.home = self.home_of.get(message.user, self.team)
        message.is_from_outside = message.home != self.team
        if message.thread_ts is not None:
            self.thread_head(channel, message.thread_ts)
        channel.messages[message.ts] = message
        return message

    def thread_head(self, channel: SlackChannel, ts: str) -> SlackMessage:
        head = channel.messages.get(ts)
        if head is None:
            raise Refused("thread_not_found", ts)
        if head.thread_ts not in (None, ts):
            raise Refused("invalid_arguments", f"{ts} is a reply, not the head of a thread")
        return head

    def thread(self, channel_id: str, ts: str) -> list[SlackMessage]:
        """The head of a thread and its replies, in order."""
        messages = self.channels[channel_id].messages.values()
        return [message for message in messages if ts in (message.ts, message.thread_ts)]

    def replies(self, channel_id: str, ts: str) -> list[SlackMessage]:
        """What the bot said in a thread, in order."""
        return [message for message in self.thread(channel_id, ts) if message.bot_id == BOT]

    def everything_of_the_bot(self) -> Iterator[SlackMessage]:
        for channel in self.channels.values():
            yield from (message for message in channel.messages.values() if message.bot_id == BOT)
