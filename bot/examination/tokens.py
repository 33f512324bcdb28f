"""Tries the tokens of the chat platforms, without opening a connection of the bot's own."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.steward import Finding
from bot.examination.look import Check
from bot.platforms import discord_config, slack_config
from bot.settings import Settings
from rag_core.ports import InstallationStore


def of_tokens(
    settings: Settings, installations: InstallationStore | None = None
) -> Sequence[Check]:
    """A platform without a token is not even imported."""

    async def slack() -> Sequence[Finding]:
        from adapters.slack.calling.trial import tried

        return await tried(slack_config(settings), installations)

    async def discord() -> Sequence[Finding]:
        from adapters.discord.gateway.trial import tried

        return await tried(discord_config(settings))

    checks = []
    if settings.slack_bot_token or settings.slack_client_id:
        advice = "See whether Slack can be reached, and correct SLACK_API_BASE."
        checks.append(Check(name="slack token", look=slack, advice=advice))
    if settings.discord_bot_token:
        advice = "See whether Discord can be reached, and correct DISCORD_API_BASE."
        checks.append(Check(name="discord token", look=discord, advice=advice))
    return checks
