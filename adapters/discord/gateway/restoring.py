"""What a bot knows of its servers, asked for again: a resumed session is not told it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discord.http import HTTPClient
from discord.state import ConnectionState

from adapters.discord.gateway.errors import discord_errors
from adapters.discord.gateway.untold import whole_server

MOST = 20
"""Servers for which asking is cheaper than a new session."""


async def restore(
    guild_ids: Sequence[int], *, http: HTTPClient, state: ConnectionState[Any], own_id: int
) -> bool:
    """Whether the servers are known now; raises UpstreamError where Discord did not tell."""
    if len(guild_ids) > MOST:
        return False
    for guild_id in guild_ids:
        with discord_errors():
            told = await described(guild_id, http=http, own_id=own_id)
            state.parse_guild_create(whole_server(told))
    return True


async def described(guild_id: int, *, http: HTTPClient, own_id: int) -> dict[str, Any]:
    """A server as a new session would be told of it."""
    guild: dict[str, Any] = dict(await http.get_guild(guild_id))
    channels = await http.get_all_guild_channels(guild_id)
    active = await http.get_active_threads(guild_id)
    member = await http.get_member(guild_id, own_id)
    return {
        **guild,
        "channels": channels,
        "threads": active["threads"],
        "members": [member],
        "unavailable": False,
    }
