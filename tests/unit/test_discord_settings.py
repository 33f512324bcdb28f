"""Discord's settings: what they may be, and what they mean."""

from __future__ import annotations

import pytest

from adapters.discord.config import DiscordConfig, ShardRange
from bot.platforms import discord_config
from bot.settings import read_settings, variables
from rag_core.books.policy import ReaderProfile
from rag_core.errors import ConfigurationError


def read(monkeypatch: pytest.MonkeyPatch, **values: str) -> DiscordConfig:
    for name in variables():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISCORD_BOT_TOKEN", "secret-token")
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return discord_config(read_settings(env_file=None))


def test_without_settings_everybody_is_heard_and_nobody_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = read(monkeypatch)
    assert config.direct_messages
    assert not config.staff_roles
    assert not config.command_guilds
    assert config.shards is None


def test_lists_and_pairs_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    config = read(
        monkeypatch,
        DISCORD_STAFF="1:2, 3:4",
        DISCORD_ADMIN_ROLES="5,6",
        DISCORD_ADMIN_CHANNELS="1:7",
        DISCORD_ALLOWED_BOTS="8",
        DISCORD_DIRECT_MESSAGES="false",
        DISCORD_COMMANDS="1, 3",
        DISCORD_READER_ROLES="9:tier2, 10:B1",
        DISCORD_SHARDS="0-3/16",
    )
    assert config.staff_roles == {"1": "2", "3": "4"}
    assert config.admin_roles == {"5", "6"}
    assert config.admin_channels == {"1": "7"}
    assert config.allowed_bots == {"8"}
    assert config.direct_messages is False
    assert config.command_guilds == ("1", "3")
    assert config.shards == ShardRange(first=0, last=3, count=16)
    assert [(role.role_id, role.profile) for role in config.reader_roles] == [
        ("9", ReaderProfile(hardware_tier=2)),
        ("10", ReaderProfile(proficiency_levels=("B1",))),
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DISCORD_STAFF", "tutors"),
        ("DISCORD_STAFF", "1:2:3"),
        ("DISCORD_ADMIN_ROLES", "admins"),
        ("DISCORD_SERVERS", "my server"),
        ("DISCORD_READER_ROLES", "9:tier5"),
        ("DISCORD_COMMANDS", "here"),
        ("DISCORD_SHARDS", "4-3/16"),
        ("DISCORD_SHARDS", "0-16/16"),
        ("DISCORD_SHARDS", "many"),
    ],
)
def test_what_makes_no_sense_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    with pytest.raises(ConfigurationError, match=name):
        read(monkeypatch, **{name: value})
