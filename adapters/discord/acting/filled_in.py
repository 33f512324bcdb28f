"""What was filled into a /footnote command, in the words of the house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import discord

from adapters.discord.hearing.channels import Spot
from rag_core.books.policy import ChannelPolicy, Place, ReaderProfile
from rag_core.conversation.key import Platform
from rag_core.errors import InvalidQuestion

BAD_DATE = "release_date must be a day like 2026-09-01."


def subcommand_of(interaction: discord.Interaction) -> tuple[str, Mapping[str, Any]]:
    """Its name, and what was filled in; no name where none was told."""
    data: Mapping[str, Any] = interaction.data or {}
    filled: Sequence[Mapping[str, Any]] = data.get("options") or ({"name": ""},)
    used = filled[0]
    return used["name"], {each["name"]: each.get("value") for each in used.get("options") or ()}


def place_in(
    interaction: discord.Interaction, spot: Spot, options: Mapping[str, Any]
) -> tuple[Place, str]:
    """The place that is meant, and its name as Discord shows it."""
    if options.get("server"):
        return Place(platform=Platform.DISCORD, tenant=spot.tenant), "the whole server"
    channel_id = str(options.get("channel") or spot.reads)
    place = Place(platform=Platform.DISCORD, tenant=spot.tenant, channel_id=channel_id)
    return place, f"#{channel_name(interaction, channel_id)}"


def channel_name(interaction: discord.Interaction, channel_id: str) -> str:
    data: Mapping[str, Any] = interaction.data or {}
    told = data.get("resolved", {}).get("channels", {}).get(channel_id)
    if told is not None:
        return str(told.get("name") or channel_id)
    channel = interaction.guild.get_channel(int(channel_id)) if interaction.guild else None
    return channel.name if channel is not None else channel_id


def policy_in(options: Mapping[str, Any]) -> ChannelPolicy:
    """What was filled in; what was not stays as it is."""
    return ChannelPolicy(
        auto_answer=options.get("auto_answer"),
        hint_only=options.get("hint_only"),
        tone=options.get("tone"),
        released_at=day_in(options.get("release_date")),
        reader=reader_in(options) or ReaderProfile(),
    )


def reader_in(options: Mapping[str, Any]) -> ReaderProfile | None:
    tier, level = options.get("hardware_tier"), options.get("proficiency")
    if tier is None and level is None:
        return None
    return ReaderProfile(hardware_tier=tier, proficiency_levels=(level,) if level else ())


def day_in(said: Any) -> datetime | None:
    if said is None:
        return None
    try:
        return datetime.strptime(str(said), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise InvalidQuestion("release_date", BAD_DATE) from None
