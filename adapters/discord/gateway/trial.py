"""Tries a bot token by asking Discord's REST interface alone: no gateway session is spent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any

import aiohttp

from adapters.discord.client import NOT_OUR_BOT
from adapters.discord.config import DiscordConfig
from adapters.discord.findings import NAME, content_finding, invite_finding, public_finding
from adapters.steward import Finding
from rag_core.errors import UpstreamRejected, UpstreamUnavailable

TRIAL_SECONDS = 8.0
WHO = f"DiscordBot (footnote, {version('footnote-bot')})"
"""Discord refuses clients that do not name themselves in this form."""
READS_CONTENT = 1 << 18 | 1 << 19
"""An application's flags: the message content intent, granted or on for up to a hundred servers."""
FEW_SESSIONS = 50
"""Of a thousand a day; one that restarts without end has used them up by the evening."""
NEW_TOKEN = "Copy the bot's token from the developer portal into DISCORD_BOT_TOKEN."  # noqa: S105 - a sentence
WAIT = "Find out why the bot restarts so often, and stop it: at none left the token is reset."


async def tried(config: DiscordConfig) -> Sequence[Finding]:
    """Whose token it is, what the developer portal allows, and how many sessions are left."""
    headers = {"Authorization": f"Bot {config.token}", "User-Agent": WHO}
    timeout = aiohttp.ClientTimeout(total=TRIAL_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout, headers=headers) as session:
        asked = ("/users/@me", "/oauth2/applications/@me", "/gateway/bot")
        me, application, gateway = await asyncio.gather(
            *(answer(session, config.api_base + path) for path in asked)
        )
    if me is None or application is None or gateway is None:
        return [Finding(name=f"{NAME} token", in_place=False, detail=NOT_OUR_BOT, advice=NEW_TOKEN)]
    detail = f"belongs to {me.get('username')}."
    public = [public_finding()] if application.get("bot_public") is True else []
    return [
        Finding(name=f"{NAME} token", in_place=True, detail=detail),
        content_finding(on=bool(int(application.get("flags") or 0) & READS_CONTENT)),
        sessions(gateway),
        invite_finding(application.get("id"), staffed=bool(config.staff_roles)),
        *public,
    ]


async def answer(session: aiohttp.ClientSession, url: str) -> Mapping[str, Any] | None:
    """Discord's answer; None where it refuses the token."""
    try:
        async with session.get(url) as response:
            if response.status == 401:
                return None
            if response.status == 429:
                raise UpstreamRejected(NAME, "asks us to come back later (status 429)")
            if response.status >= 400:
                raise UpstreamUnavailable(NAME, f"status {response.status}")
            read = await response.json()
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise UpstreamUnavailable(NAME, type(error).__name__) from error
    if not isinstance(read, dict):
        raise UpstreamUnavailable(NAME, "an answer that is not Discord's")
    return read


def sessions(gateway: Mapping[str, Any]) -> Finding:
    """How often a new session may still begin today."""
    limit = gateway.get("session_start_limit") or {}
    left, total = int(limit.get("remaining", 0)), int(limit.get("total", 0))
    again = datetime.now(UTC) + timedelta(milliseconds=float(limit.get("reset_after", 0)))
    detail = (
        f"{left} of {total} may begin before {again:%H:%M} UTC;"
        f" Discord proposes {gateway.get('shards', 1)} shards."
    )
    return Finding(
        name=f"{NAME} new sessions", in_place=left >= FEW_SESSIONS, detail=detail, advice=WAIT
    )
