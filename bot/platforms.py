"""Opens the chat platforms that are configured; the others are not even imported."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence

from adapters.platform import ChatPlatform
from bot.settings import Settings
from bot.wiring import Services


@contextlib.asynccontextmanager
async def open_platforms(
    settings: Settings, services: Services
) -> AsyncIterator[Sequence[ChatPlatform]]:
    async with contextlib.AsyncExitStack() as stack:
        opened: list[ChatPlatform] = []
        if settings.slack_bot_token and settings.slack_app_token:
            from adapters.slack.app import open_slack
            from adapters.slack.config import SlackConfig

            slack = SlackConfig(
                bot_token=settings.slack_bot_token.get_secret_value(),
                app_token=settings.slack_app_token.get_secret_value(),
                api_base=settings.slack_api_base,
            )
            opened.append(
                await stack.enter_async_context(
                    open_slack(slack, desk=services.desk, markers=services.stores.markers)
                )
            )
        if settings.discord_bot_token:
            from adapters.discord.client import open_discord
            from adapters.discord.config import DiscordConfig
            from adapters.discord.lookup import Lookup
            from adapters.discord.presses import Review

            discord = DiscordConfig(
                token=settings.discord_bot_token.get_secret_value(),
                api_base=settings.discord_api_base,
                gateway_url=settings.discord_gateway_url,
            )
            opened.append(
                await stack.enter_async_context(
                    open_discord(
                        discord,
                        desk=services.desk,
                        markers=services.stores.markers,
                        lookup=Lookup(searches=services.retriever, library=services.library),
                        review=Review(
                            answers=services.stores.ledger, feedback=services.stores.feedback
                        ),
                    )
                )
            )
        yield opened
