"""Who is served on each chat platform, as the settings and the database say."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adapters.admissions import Admissions, Named
from bot.discord_settings import numbers_in
from bot.setting import ids_in
from bot.settings import Settings
from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.tenants import KnownTenant
from rag_core.errors import InvalidQuestion
from rag_core.ports import TenantStore

SERVER_ID = re.compile(r"[0-9]{1,20}")
SLACK_HOME = re.compile(r"[TE][A-Z0-9]{2,30}")
"""A workspace, or an organisation whose members write in shared channels."""
CHATS = (Platform.DISCORD, Platform.SLACK)


def admissions_for(platform: Platform, settings: Settings, store: TenantStore) -> Admissions:
    return Admissions(store, platform=platform, named=named_in(settings, platform))


def named_in(settings: Settings, platform: Platform) -> Named:
    if platform is Platform.DISCORD:
        return Named(variable="DISCORD_SERVERS", ids=numbers_in(settings.discord_servers))
    return Named(variable="SLACK_WORKSPACES", ids=frozenset(ids_in(settings.slack_workspaces)))


def platform_of(tenant: TenantId) -> Platform:
    """Ids say what they name; InvalidQuestion where they name nothing."""
    if SERVER_ID.fullmatch(tenant):
        return Platform.DISCORD
    if SLACK_HOME.fullmatch(tenant):
        return Platform.SLACK
    raise InvalidQuestion(
        "id",
        f"{tenant!r} is not an id. Discord servers have digits (123456789012345678), Slack"
        " workspaces begin with T (T0123456); `footnote servers` lists those that were met.",
    )


async def every_tenant(settings: Settings, store: TenantStore) -> Sequence[KnownTenant]:
    """On all platforms, with what holds now."""
    listed: list[KnownTenant] = []
    for platform in CHATS:
        listed += await admissions_for(platform, settings, store).listed()
    return listed
