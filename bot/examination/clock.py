"""Whether this machine's clock agrees with the services that it talks to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

from adapters.steward import Finding
from bot.examination.look import in_place, missing
from bot.settings import Settings

LOOK_SECONDS = 5.0
FAR_OFF_SECONDS = 60.0
"""Slack refuses signatures that are five minutes off; one minute is reason to look."""
SET_IT = "Set this machine's clock; signatures and rate limits depend on it."


async def clock(settings: Settings, folder: Path) -> Sequence[Finding]:
    """Compared with a service that is configured; no other address is asked. Where none tells
    the time, with what this machine itself wrote earlier."""
    address = compared_with(settings)
    theirs = await told_by(address) if address else None
    if theirs is None:
        return [by_files(folder, asked=address is not None)]
    apart = abs((datetime.now(UTC) - theirs).total_seconds())
    if apart > FAR_OFF_SECONDS:
        return [missing("clock", f"is {apart:.0f} s away from the time of a service.", SET_IT)]
    return [in_place("clock", "agrees with the time of the services.")]


def compared_with(settings: Settings) -> str | None:
    """The first service that is configured; an address of one's own before a vendor's."""
    if settings.slack_bot_token or settings.slack_client_id:
        return settings.slack_api_base
    if settings.discord_bot_token:
        return settings.discord_api_base
    return settings.openai_base_url or settings.cohere_api_url or settings.qdrant_url


async def told_by(address: str) -> datetime | None:
    """The time in a service's answer, if it answers and tells one."""
    import httpx

    try:
        async with httpx.AsyncClient(timeout=LOOK_SECONDS) as client:
            front = httpx.URL(address).join("/")  # an unknown path would count as a bad request
            told = (await client.head(front)).headers.get("date")
        return parsedate_to_datetime(told).astimezone(UTC) if told else None
    except (httpx.HTTPError, ValueError):
        return None


def by_files(folder: Path, *, asked: bool) -> Finding:
    """A clock that went back shows in files that were written later than now."""
    now = datetime.now(UTC).timestamp()
    ahead = max((file.stat().st_mtime - now for file in folder.glob("*")), default=0.0)
    if ahead > FAR_OFF_SECONDS:
        detail = f"is {ahead:.0f} s behind the newest file in the data folder."
        return missing("clock", detail, SET_IT)
    who = "no service told the time" if asked else "no service to compare it with"
    return in_place("clock", f"{who}; it is not behind what was written here.")
