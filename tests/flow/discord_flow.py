"""A bot on a course server, and what a flow test asks of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from adapters.discord.assembly import DiscordParts
from adapters.discord.client import open_discord
from adapters.discord.config import DiscordConfig
from adapters.platform import ChatPlatform
from tests.fakes.discord_desk import DiscordDesk
from tests.fakes.tenants import MemoryTenants, discord_admissions
from tests.peers.discord import TOKEN, DiscordPeer, open_discord_peer
from tests.peers.discord_world import Channel, Guild, Person


class Markers:
    """Remembers for as long as the test lasts."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    @property
    def knows_commands(self) -> bool:
        return any(name.startswith("discord:commands:") for name in self.kept)

    async def get(self, name: str) -> str | None:
        return self.kept.get(name)

    async def set(self, name: str, value: str) -> None:
        self.kept[name] = value


@dataclass
class Course:
    """A server with one channel and one student, and the bot in it."""

    peer: DiscordPeer
    desk: DiscordDesk
    markers: Markers = field(default_factory=Markers)
    guild: Guild = field(init=False)
    channel: Channel = field(init=False)
    alice: Person = field(init=False)
    bob: Person = field(init=False)
    tenants: MemoryTenants = field(default_factory=MemoryTenants)
    platform: ChatPlatform | None = None
    parts: dict[str, Any] = field(default_factory=dict)
    """What else the bot is opened with."""

    def __post_init__(self) -> None:
        world = self.peer.world
        self.guild = world.guild()
        self.channel = world.text_channel(self.guild)
        self.alice, self.bob = world.person("alice"), world.person("bob")

    async def until(self, condition: Callable[[], Any]) -> Any:
        return await self.peer.until(condition)

    async def answered(self, times: int = 1) -> None:
        await self.until(lambda: len(self.desk.delivered) >= times)

    async def quiet(self) -> None:
        """Long enough for a message to be heard, if it were heard."""
        await asyncio.sleep(0.15)


def config_for(peer: DiscordPeer, **changes: Any) -> DiscordConfig:
    values: dict[str, Any] = {
        "token": TOKEN,
        "api_base": peer.api_base,
        "gateway_url": peer.gateway_url,
        "guild_ready_seconds": 0.05,
        "identify_seconds": 0.05,
        "connect_seconds": 0.02,
        "open_seconds": 1.0,
        "beat_seconds": 0.5,
        "silence_seconds": 5.0,
        "retry_seconds": 0.02,
        "request_seconds": 1.0,
        "line_after_seconds": 0.02,
        "line_every_seconds": 0.02,
        "accept_pauses": (0.01, 0.02),
    }
    return DiscordConfig(**{**values, **changes})


@asynccontextmanager
async def running(course: Course, **changes: Any) -> AsyncIterator[ChatPlatform]:
    """The bot, listening."""
    config = config_for(course.peer, **changes)
    desk = course.desk
    own = {"admissions": discord_admissions(course.tenants), **course.parts}
    parts = DiscordParts(desk=desk, markers=course.markers, **own)
    async with open_discord(config, parts) as platform:
        course.platform = platform
        async with desk.serving(platform):
            await course.until(lambda: platform.is_ready)
            # The commands are registered, or a test has seen to it that they are not.
            await course.until(lambda: course.markers.knows_commands or course.peer.troubles.made)
            yield platform


@asynccontextmanager
async def on_a_course(desk: DiscordDesk | None = None, **parts: Any) -> AsyncIterator[Course]:
    """A server with the bot at work in it."""
    async with open_discord_peer() as peer:
        course = Course(peer, desk or DiscordDesk(), parts=parts)
        async with running(course):
            yield course
