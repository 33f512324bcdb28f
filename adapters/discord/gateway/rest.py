"""The calls that an answer makes to Discord, in our words and with our errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from discord.http import HTTPClient

from adapters.discord.answering.post import SUPPRESS_EMBEDS, Post
from adapters.discord.gateway.connection import Connection
from adapters.discord.gateway.errors import (
    GONE,
    SERVICE,
    THREAD_IS_THERE,
    UNKNOWN_CHANNEL,
    UNKNOWN_MEMBER,
    DiscordRefused,
    discord_errors,
)
from adapters.discord.gateway.tries import refused_at_first
from adapters.discord.gateway.turns import Urgency
from rag_core.conversation.key import TenantId
from rag_core.errors import UpstreamUnavailable

NEWEST = 100
A_PAGE = 200
"""Servers of one answer."""
ARCHIVE_AFTER_MINUTES: Literal[1440] = 1440


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message that we find again: whose it is, what it says, what it replies to."""

    id: str
    author_id: str
    content: str
    reply_to: str | None
    nonce: str | None


class DiscordRest:
    """Sends, looks up, types and opens threads; pings nobody."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def own_id(self) -> str:
        """Our user id, once we are logged in."""
        if self._connection.user is None:
            raise UpstreamUnavailable(SERVICE, "not connected")
        return str(self._connection.user.id)

    @property
    def application_id(self) -> int:
        """Of very old bots it is not the user's."""
        if self._connection.application_id is None:
            raise UpstreamUnavailable(SERVICE, "not connected")
        return self._connection.application_id

    async def send(
        self,
        channel_id: str,
        post: Post,
        *,
        nonce: str,
        reply_to: str | None = None,
        pings_role: str | None = None,
    ) -> str:
        """The id of the message; sending the same nonce again soon gives the same message."""
        sent = await self.send_and_read(
            channel_id, post, nonce=nonce, reply_to=reply_to, pings_role=pings_role
        )
        return sent.id

    async def send_and_read(
        self,
        channel_id: str,
        post: Post,
        *,
        nonce: str,
        reply_to: str | None = None,
        pings_role: str | None = None,
    ) -> Sent:
        """The message as it stands there."""
        reply = {"message_reference": _reference(channel_id, reply_to)} if reply_to else {}
        options = {"nonce": nonce, "enforce_nonce": True, "flags": SUPPRESS_EMBEDS, **reply}
        with (
            post.parameters(pings_role=pings_role, **options) as params,
            refused_at_first(),
            discord_errors(),
        ):
            answer: Any = await self._http.send_message(int(channel_id), params=params)
        _id_in(answer)
        return _sent(answer)

    async def edit(self, channel_id: str, message_id: str, post: Post) -> None:
        """Let a message of ours say this."""
        with post.parameters() as params, discord_errors():
            await self._http.edit_message(int(channel_id), int(message_id), params=params)

    async def open_thread(self, channel_id: str, message_id: str, *, title: str) -> str:
        """Make a thread from a message and return its id; one that is there already will do, and
        has the id of its message."""
        try:
            with discord_errors():
                made: Any = await self._http.start_thread_with_message(
                    int(channel_id),
                    int(message_id),
                    name=title,
                    auto_archive_duration=ARCHIVE_AFTER_MINUTES,
                )
        except DiscordRefused as refusal:
            if refusal.code != THREAD_IS_THERE:
                raise
            return message_id
        return _id_in(made)

    async def typing(self, channel_id: str) -> None:
        with discord_errors():
            await self._http.send_typing(int(channel_id))

    async def delete(self, channel_id: str, message_id: str) -> None:
        with discord_errors():
            await self._http.delete_message(int(channel_id), int(message_id))

    async def removed(self, channel_id: str, message_id: str) -> bool:
        """Delete a message; False: there is no such message in this channel."""
        try:
            await self.delete(channel_id, message_id)
        except DiscordRefused as refusal:
            if refusal.code in GONE:
                return False
            raise
        return True

    async def tag(self, post_id: str, tags: Sequence[int]) -> None:
        """Let a forum post wear these tags."""
        with discord_errors():
            await self._http.edit_channel(int(post_id), applied_tags=list(tags))

    async def newest(self, channel_id: str) -> Sequence[Sent]:
        """The newest messages of a channel or thread."""
        with discord_errors():
            answer = await self._http.logs_from(int(channel_id), NEWEST)
        if not isinstance(answer, list):
            raise UpstreamUnavailable(SERVICE, "unreadable answer")
        return [_sent(message) for message in answer]

    async def newest_if_any(self, channel_id: str) -> Sequence[Sent]:
        """The same; none of a channel that is gone, or of a thread that was never made."""
        try:
            return await self.newest(channel_id)
        except DiscordRefused as refusal:
            if refusal.code == UNKNOWN_CHANNEL:
                return []
            raise

    def edit_pause(self, channel_id: str) -> float:
        """How long to leave the messages of a channel alone, by what Discord told last."""
        return self._connection.addressed.pause_before_edit(int(channel_id))

    async def turn(self, level: Urgency) -> None:
        """Wait before what is to be sent is decided, so that it is the newest."""
        await self._connection.addressed.turns.wait(level)

    async def own_servers(self) -> Mapping[TenantId, str]:
        """Every server that the bot is in, by id, with its name."""
        found: dict[TenantId, str] = {}
        after: int | None = None
        while True:
            with discord_errors():
                page: Any = await self._http.get_guilds(A_PAGE, after=after, with_counts=False)
                found |= {TenantId(str(guild["id"])): str(guild.get("name", "")) for guild in page}
                if len(page) < A_PAGE:
                    return found
                after = max(int(guild["id"]) for guild in page)

    async def has_member(self, server_id: str, user_id: int) -> bool:
        """Whether somebody is on a server."""
        try:
            with discord_errors():
                await self._http.get_member(int(server_id), user_id)
        except DiscordRefused as refusal:
            if refusal.code != UNKNOWN_MEMBER:
                raise
            return False
        return True

    async def open_direct(self, user_id: str) -> str:
        """The channel that one person and we share alone."""
        with discord_errors():
            return _id_in(await self._http.start_private_message(int(user_id)))

    async def register_commands(
        self, wanted: Sequence[dict[str, Any]], *, guild_id: str | None
    ) -> None:
        """Replace all commands of the application, everywhere or on one server."""
        with discord_errors():
            if guild_id is None:
                await self._http.bulk_upsert_global_commands(self.application_id, list(wanted))
            else:
                await self._http.bulk_upsert_guild_commands(
                    self.application_id, int(guild_id), list(wanted)
                )

    @property
    def _http(self) -> HTTPClient:
        if not self._connection.is_logged_in or self._connection.is_closed():
            raise UpstreamUnavailable(SERVICE, "not connected")
        return self._connection.http


def _reference(channel_id: str, message_id: str) -> dict[str, Any]:
    """A reply that is posted as a plain message where what it replies to is gone."""
    return {"message_id": message_id, "channel_id": channel_id, "fail_if_not_exists": False}


def _id_in(answer: Any) -> str:
    if not isinstance(answer, dict) or "id" not in answer:
        raise UpstreamUnavailable(SERVICE, "unreadable answer")
    return str(answer["id"])


def _sent(message: Any) -> Sent:
    reference = message.get("message_reference") or {}
    return Sent(
        id=str(message["id"]),
        author_id=str(message.get("author", {}).get("id", "")),
        content=message.get("content", ""),
        reply_to=reference.get("message_id"),
        nonce=message.get("nonce"),
    )
