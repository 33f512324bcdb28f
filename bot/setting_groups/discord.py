"""The Discord bot: its token, its addresses, who may do what."""

from __future__ import annotations

from pydantic import BaseModel, SecretStr

from bot.discord_settings import (
    NUMBERS_RULE,
    PAIRS_RULE,
    CommandPlace,
    Numbers,
    Pairs,
    ReaderRoles,
    Shards,
)
from bot.setting import ADDRESS_RULE, SOCKET_RULE, Address, SocketAddress, setting


class DiscordSettings(BaseModel):
    """The Discord bot: its token, its addresses, who may do what."""

    discord_bot_token: SecretStr | None = setting(
        "DISCORD_BOT_TOKEN", None, "Token of the Discord bot; unset: no Discord", "a token"
    )
    discord_api_base: Address = setting(
        "DISCORD_API_BASE",
        "https://discord.com/api/v10",
        "Address of Discord's API",
        ADDRESS_RULE,
    )
    discord_gateway_url: SocketAddress = setting(
        "DISCORD_GATEWAY_URL",
        "wss://gateway.discord.gg/",
        "Address of Discord's gateway",
        SOCKET_RULE,
    )
    discord_servers: Numbers = setting(
        "DISCORD_SERVERS",
        "",
        "Discord servers that are served; unset: those that the bot is in at its first start, or"
        " the first one that it joins, and whichever `footnote servers allow` adds",
        f"{NUMBERS_RULE} server ids",
    )
    discord_staff: Pairs = setting(
        "DISCORD_STAFF",
        "",
        "Role that Ask a person calls, for each server",
        f"{PAIRS_RULE} SERVER:ROLE (both are ids)",
    )
    discord_admin_roles: Numbers = setting(
        "DISCORD_ADMIN_ROLES",
        "",
        "Roles that may use the admin commands beside those who manage the server",
        f"{NUMBERS_RULE} role ids",
    )
    discord_admin_channels: Pairs = setting(
        "DISCORD_ADMIN_CHANNELS",
        "",
        "Channel that is told what is missing, for each server",
        f"{PAIRS_RULE} SERVER:CHANNEL (both are ids)",
    )
    discord_reader_roles: ReaderRoles = setting(
        "DISCORD_READER_ROLES",
        None,
        "Roles that say what their members have and know",
        "comma-separated ROLE:tier1 to ROLE:tier4, or ROLE:A1 to ROLE:C2",
    )
    discord_allowed_bots: Numbers = setting(
        "DISCORD_ALLOWED_BOTS",
        "",
        "Bots and webhooks that are answered as people are",
        f"{NUMBERS_RULE} user or webhook ids",
    )
    discord_direct_messages: bool = setting(
        "DISCORD_DIRECT_MESSAGES", True, "Whether direct messages are answered", "true or false"
    )
    discord_commands: CommandPlace = setting(
        "DISCORD_COMMANDS",
        "global",
        "Where commands are registered: everywhere, or on named servers, which see changes at once",
        "global, or comma-separated server ids",
    )
    discord_shards: Shards = setting(
        "DISCORD_SHARDS",
        None,
        "Gateway connections; unset: one",
        "auto, or FIRST-LAST/COUNT for the part of this host",
    )
