"""Opens the chat platforms that are configured; the others are not even imported."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adapters.closed_passages import ClosedPassages
from adapters.discord.config import DiscordConfig
from adapters.platform import ChatPlatform
from adapters.review import Review
from adapters.section_titles import SectionTitles
from adapters.slack.config import CommandNames, InstallConfig, SlackConfig
from adapters.steward import Steward
from bot.admissions import admissions_for
from bot.discord_settings import guilds_in, numbers_in, pairs_in, reader_roles_in, shards_in
from bot.services import Services
from bot.setting import ids_in
from bot.settings import Settings
from bot.steward import HouseSteward
from bot.web_wiring import starters_of
from rag_core.conversation.key import Platform

if TYPE_CHECKING:
    from adapters.discord.assembly import DiscordParts
    from adapters.slack.assembly import SlackParts


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPlatforms:
    """The chat platforms that listen, and what they serve on the port of the web door."""

    platforms: tuple[ChatPlatform, ...] = ()
    mounts: Mapping[str, Any] = field(default_factory=dict)
    """ASGI applications by path."""


@contextlib.asynccontextmanager
async def open_platforms(settings: Settings, services: Services) -> AsyncIterator[OpenPlatforms]:
    platforms: list[ChatPlatform] = []
    mounts: dict[str, Any] = {}
    steward = HouseSteward(services)
    async with AsyncExitStack() as stack:
        if settings.slack_bot_token or settings.slack_client_id:
            from adapters.slack.app import open_slack

            slack = await stack.enter_async_context(
                open_slack(slack_config(settings), slack_parts(services, steward))
            )
            platforms.append(slack)
            steward.greet(slack)
            services.forgetting.add(slack.forget)
            mounts |= slack.doors
        if settings.discord_bot_token:
            from adapters.discord.client import open_discord

            discord = await stack.enter_async_context(
                open_discord(discord_config(settings), discord_parts(services, steward))
            )
            steward.greet(discord)
            services.forgetting.add(discord.forget)
            platforms.append(discord)
        yield OpenPlatforms(platforms=tuple(platforms), mounts=mounts)


def slack_parts(services: Services, steward: Steward) -> SlackParts:
    from adapters.passages import Passages
    from adapters.slack.acting.commands import LOOKUP_SECONDS
    from adapters.slack.assembly import SlackParts

    stores, library = services.stores, services.library
    return SlackParts(
        desk=services.desk,
        markers=stores.markers,
        admissions=admissions_for(Platform.SLACK, services.settings, stores.tenants),
        answers=stores.ledger,
        feedback=stores.feedback,
        closed=closed_passages(services),
        passages=Passages(searches=services.retriever, library=library, seconds=LOOKUP_SECONDS),
        library=library,
        policies=library,
        steward=steward,
        starters=starters_of(services),
        asked=stores.ledger,
        lately=stores.lately,
        staffing=services.staffing,
        installations=stores.installations,
        forgetting=services.forgetting,
    )


def slack_config(settings: Settings) -> SlackConfig:
    bot, app, signing = (
        settings.slack_bot_token,
        settings.slack_app_token,
        settings.slack_signing_secret,
    )
    return SlackConfig(
        bot_token=bot.get_secret_value() if bot else "",
        install=slack_install(settings),
        app_token=app.get_secret_value() if app else None,
        signing_secret=signing.get_secret_value() if signing else None,
        api_base=settings.slack_api_base,
        names=slack_names(settings),
        admins=ids_in(settings.slack_admin_users),
        ask_person=ids_in(settings.slack_ask_person),
        allowed_bots=ids_in(settings.slack_allowed_bots),
    )


def slack_install(settings: Settings) -> InstallConfig | None:
    """Where the settings name an app that workspaces install by themselves."""
    client, secret = settings.slack_client_id, settings.slack_client_secret
    if client is None or secret is None or settings.public_url is None:
        return None
    return InstallConfig(
        client_id=client,
        client_secret=secret.get_secret_value(),
        public_url=settings.public_url,
        forgets=settings.slack_forget_uninstalled,
    )


def slack_names(settings: Settings) -> CommandNames:
    return CommandNames(
        ask=settings.slack_ask_command,
        lookup=settings.slack_lookup_command,
        house=settings.slack_house_command,
    )


def discord_parts(services: Services, steward: Steward) -> DiscordParts:
    from adapters.discord.acting.lookup import Lookup
    from adapters.discord.assembly import DiscordParts

    stores = services.stores
    return DiscordParts(
        desk=services.desk,
        markers=stores.markers,
        admissions=admissions_for(Platform.DISCORD, services.settings, stores.tenants),
        lookup=Lookup(
            searches=services.retriever,
            library=services.library,
            titles=SectionTitles(files=stores.jobs, passages=services.vectors),
        ),
        policies=services.library,
        steward=steward,
        lately=stores.lately,
        staffing=services.staffing,
        review=Review(
            answers=stores.ledger,
            feedback=stores.feedback,
            desk=services.desk,
            markers=stores.markers,
            closed=closed_passages(services),
        ),
    )


def closed_passages(services: Services) -> ClosedPassages:
    return ClosedPassages(library=services.library, index=services.vectors)


def discord_config(settings: Settings) -> DiscordConfig:
    token = settings.discord_bot_token
    return DiscordConfig(
        token=token.get_secret_value() if token else "",
        api_base=settings.discord_api_base,
        gateway_url=settings.discord_gateway_url,
        staff_roles=pairs_in(settings.discord_staff),
        admin_roles=numbers_in(settings.discord_admin_roles),
        admin_channels=pairs_in(settings.discord_admin_channels),
        reader_roles=reader_roles_in(settings.discord_reader_roles),
        command_guilds=guilds_in(settings.discord_commands),
        direct_messages=settings.discord_direct_messages,
        allowed_bots=numbers_in(settings.discord_allowed_bots),
        shards=shards_in(settings.discord_shards),
    )
