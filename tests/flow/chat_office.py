"""The real desk and its worker behind one chat platform and its stand-in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from adapters.discord.assembly import DiscordParts
from adapters.discord.client import open_discord
from adapters.platform import ChatPlatform
from adapters.slack.app import open_slack
from rag_core.desk.limits import Bounds
from rag_core.desk.outgoing import Outlet
from rag_core.storage.engines.database import Database
from rag_core.storage.ledger.ledger import QuestionLedger
from tests.fakes.markers import MemoryMarkers
from tests.fakes.offices import QUICK, Office
from tests.fakes.slack_house import config_for as slack_config
from tests.fakes.slack_house import owned, parts_for
from tests.fakes.tenants import discord_admissions
from tests.flow.discord_flow import Markers
from tests.flow.discord_flow import config_for as discord_config
from tests.peers.discord import DiscordPeer, open_discord_peer
from tests.peers.slack import SlackPeer

WITHIN_SECONDS = 30.0


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(WITHIN_SECONDS):
        while not condition():  # noqa: ASYNC110 - the peer is outside, it sets no event
            await asyncio.sleep(0.01)


@asynccontextmanager
async def answering(office: Office, platform: ChatPlatform) -> AsyncIterator[None]:
    office.outlets = {
        platform.platform: Outlet(renderer=platform.renderer, replies=platform.replies)
    }
    async with owned(platform.run()), office.at_work(QUICK):
        await until(lambda: platform.is_ready)
        yield


@asynccontextmanager
async def slack_office(
    database: Database, bounds: Bounds, **parts: Any
) -> AsyncIterator[tuple[Office, SlackPeer]]:
    office = Office(database, QuestionLedger(database), bounds=bounds)
    async with AsyncExitStack() as stack:
        peer = await stack.enter_async_context(SlackPeer())
        handed = {"desk": office.desk, "answers": office.ledger, "markers": MemoryMarkers()}
        made = parts_for(**(handed | parts))  # type: ignore[arg-type]  # the real desk
        config = slack_config(peer, write_seconds=1.0)
        platform = await stack.enter_async_context(open_slack(config, made))
        await stack.enter_async_context(answering(office, platform))
        yield office, peer


@asynccontextmanager
async def discord_office(
    database: Database, bounds: Bounds, **parts: Any
) -> AsyncIterator[tuple[Office, DiscordPeer]]:
    office = Office(database, QuestionLedger(database), bounds=bounds)
    async with AsyncExitStack() as stack:
        peer = await stack.enter_async_context(open_discord_peer())
        peer.world.text_channel(peer.world.guild())
        markers = Markers()
        made = DiscordParts(
            desk=office.desk, markers=markers, admissions=discord_admissions(), **parts
        )
        platform = await stack.enter_async_context(open_discord(discord_config(peer), made))
        await stack.enter_async_context(answering(office, platform))
        await until(lambda: markers.knows_commands)
        yield office, peer
