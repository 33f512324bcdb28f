"""What is in place and what is missing on Discord's side, in words that name who must act."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import discord

from adapters.discord.gateway.connection import Connection
from adapters.steward import Finding

NEEDED = {
    "view_channel": "View Channels",
    "send_messages": "Send Messages",
    "read_message_history": "Read Message History",
    "create_public_threads": "Create Public Threads",
    "send_messages_in_threads": "Send Messages in Threads",
    "attach_files": "Attach Files",
}
FOR_STAFF = {"mention_everyone": "Mention All Roles", "manage_threads": "Manage Threads"}
"""Only to call a role that not everybody may mention, and to tag a forum post as resolved."""
INVITE = (
    "https://discord.com/oauth2/authorize?client_id={client}&scope=bot+applications.commands"
    "&permissions={permissions}"
)
NAMED = 5
"""Channels that a finding names; the others are counted."""
SWITCH_ON = (
    "Switch on Message Content Intent under Bot in Discord's developer portal; until then I answer"
    " mentions, commands and direct messages only."
)
SWITCH_OFF = (
    "Make it private in Discord's developer portal: set Install Link to None under Installation and"
    " save, then switch off Public Bot under Bot and save."
)
NAME = "discord"


class Examination:
    """Looks at what the gateway told, and asks Discord nothing."""

    def __init__(
        self, connection: Connection, *, intents: discord.Intents, staff: Mapping[str, str]
    ) -> None:
        self._connection = connection
        self._intents = intents
        self._staff = staff

    def findings(self, *, guild_id: str | None = None) -> Sequence[Finding]:
        """Of every server, or of one: its admins are told nothing of the others."""
        guilds = [g for g in self._connection.guilds if guild_id in (None, str(g.id))]
        return [
            self._listening(),
            self._content(),
            self._invite(),
            *self._staff_roles(guilds),
            *self._channels(guilds),
        ]

    def _listening(self) -> Finding:
        connection = self._connection
        user = connection.user
        if user is None or not connection.is_listening:
            return Finding(
                name=NAME,
                in_place=False,
                detail="is not connected.",
                advice="Look for the reason in the log; DISCORD_BOT_TOKEN must be the bot's token.",
            )
        detail = f"connected as {user.name} on {len(connection.guilds)} servers."
        return Finding(name=NAME, in_place=True, detail=detail)

    def _content(self) -> Finding:
        return content_finding(on=self._intents.message_content)

    def _invite(self) -> Finding:
        return invite_finding(self._connection.application_id, staffed=bool(self._staff))

    def _staff_roles(self, guilds: Sequence[discord.Guild]) -> Iterator[Finding]:
        for guild in guilds:
            role_id = self._staff.get(str(guild.id))
            if role_id is not None and guild.get_role(int(role_id)) is None:
                yield Finding(
                    name=f"{NAME} staff of {guild.name}",
                    in_place=False,
                    detail=f"the role {role_id} is not there.",
                    advice="Put the role's id into DISCORD_STAFF.",
                )

    def _channels(self, guilds: Sequence[discord.Guild]) -> Iterator[Finding]:
        """Channels that lack the same are one finding."""
        groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for channel, missing in self._lacking(guilds):
            groups[tuple(missing)].append(channel)
        if not groups:
            yield Finding(name=f"{NAME} channels", in_place=True, detail="lack no permission.")
        for lacking, channels in sorted(groups.items(), key=lambda group: -len(group[1])):
            yield lacking_finding(", ".join(lacking), channels)

    def _lacking(self, guilds: Sequence[discord.Guild]) -> Iterator[tuple[str, list[str]]]:
        """Every channel that lacks a permission, by name."""
        for guild in guilds:
            staffed = str(guild.id) in self._staff
            channels: list[Any] = [*guild.text_channels, *guild.forums]
            for channel in channels:
                if missing := missing_in(channel, guild, staffed=staffed):
                    yield f"#{channel.name} on {guild.name}", missing


def lacking_finding(missing: str, channels: Sequence[str]) -> Finding:
    more = f" and {len(channels) - NAMED} more" if len(channels) > NAMED else ""
    count = "1 channel lacks" if len(channels) == 1 else f"{len(channels)} channels lack"
    return Finding(
        name=f"{NAME} permissions ({missing})",
        in_place=False,
        detail=f"{count} {missing}: {', '.join(channels[:NAMED])}{more}.",
        advice="Allow it for my role in the server's settings, or in each channel's permissions.",
    )


def public_finding() -> Finding:
    return Finding(
        name=f"{NAME} application",
        in_place=True,
        is_warning=True,
        detail="is public: anybody can add the bot to a server of theirs, where it stays silent"
        " until you allow that server.",
        advice=SWITCH_OFF,
    )


def content_finding(*, on: bool) -> Finding:
    detail = "is on." if on else "is off."
    return Finding(name=f"{NAME} message content", in_place=on, detail=detail, advice=SWITCH_ON)


def invite_finding(client: int | str | None, *, staffed: bool) -> Finding:
    link = INVITE.format(client=client, permissions=permissions(staffed))
    known = client is not None
    detail = f"adds me to a server: {link}" if known else "is known once I am connected."
    return Finding(name=f"{NAME} invite link", in_place=True, detail=detail)


def permissions(with_staff: bool) -> int:
    """Exactly what is needed, as the invite link names it."""
    names = [*NEEDED, *(FOR_STAFF if with_staff else ())]
    return discord.Permissions(**dict.fromkeys(names, True)).value


def missing_in(channel: Any, guild: discord.Guild, *, staffed: bool) -> list[str]:
    """The permissions that are missing in a channel, as Discord's own pages call them.

    A channel that is closed to us altogether is meant to be: it is none of ours."""
    may = channel.permissions_for(guild.me)
    if not may.view_channel:
        return []
    wanted = NEEDED | (FOR_STAFF if staffed else {})
    return [label for name, label in wanted.items() if not getattr(may, name)]
