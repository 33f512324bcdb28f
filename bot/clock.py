"""Whether this machine's clock agrees with the services that it talks to."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from adapters.steward import Finding
from bot.doctor import in_place, missing
from bot.settings import Settings

LOOK_SECONDS = 5.0
FAR_OFF_SECONDS = 60.0
"""Slack refuses signatures that are five minutes off; one minute is reason to look."""


async def clock_finding(settings: Settings) -> Finding:
    """Compared with the first chat platform that is configured; no other address is asked."""
    address = compared_with(settings)
    if address is None:
        return in_place("clock", "no chat platform to compare it with.")
    try:
        async with httpx.AsyncClient(timeout=LOOK_SECONDS) as client:
            told = (await client.head(address)).headers.get("date")
        theirs = parsedate_to_datetime(told) if told else None
    except (httpx.HTTPError, ValueError):
        theirs = None
    if theirs is None:
        return in_place("clock", "nobody told the time.")
    apart = abs((datetime.now(UTC) - theirs.astimezone(UTC)).total_seconds())
    if apart > FAR_OFF_SECONDS:
        return missing(
            "clock",
            f"{apart:.0f} s away from the platform's time.",
            "Set this machine's clock; signatures and rate limits depend on it.",
        )
    return in_place("clock", "agrees with the platform's time.")


def compared_with(settings: Settings) -> str | None:
    if settings.slack_bot_token:
        return settings.slack_api_base
    return settings.discord_api_base if settings.discord_bot_token else None
