"""Commands are acknowledged at once, whatever the model and the event loop are busy with."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from adapters.discord.assembly import DiscordParts
from adapters.discord.client import open_discord
from rag_core.desk.progress import Progress
from tests.fakes.discord_desk import DiscordDesk
from tests.fakes.tenants import discord_admissions
from tests.flow.discord_flow import Markers, config_for
from tests.peers.discord import DiscordPeer, open_discord_peer
from tests.peers.discord_interactions import CALLBACK, DEFER, Interaction

FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
COMMANDS, A_SECOND = (2_000, 20) if FULL else (60, 20)
LONGEST_STALL = 1.0
TOO_LATE = float("inf")
LONGEST_ANSWER = 60.0 if FULL else 2.0
Value = TypeVar("Value")


class Elsewhere:
    """A Discord in a thread of its own: its clock runs on while the bot's loop stands still."""

    def __init__(self, loop: asyncio.AbstractEventLoop, peer: DiscordPeer) -> None:
        self._loop = loop
        self.peer = peer

    async def do(self, step: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
        future = asyncio.run_coroutine_threadsafe(step(), self._loop)
        return await asyncio.wrap_future(future)


@contextmanager
def discord_elsewhere() -> Iterator[Elsewhere]:
    ready, made = threading.Event(), list[Elsewhere]()
    over = asyncio.Event()

    async def serve() -> None:
        async with open_discord_peer() as peer:
            made.append(Elsewhere(asyncio.get_running_loop(), peer))
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait(10)
    try:
        yield made[0]
    finally:
        made[0]._loop.call_soon_threadsafe(over.set)
        thread.join(30)


async def stall() -> None:
    """Something blocks the loop now and then: a big file, a slow disk, a busy machine.

    Two stalls without a breath between them would be one of twice the length."""
    while True:
        await asyncio.sleep(random.uniform(0.1, 4.0))
        time.sleep(random.uniform(0.0, LONGEST_STALL))  # noqa: ASYNC251


async def think(_: Progress) -> None:
    await asyncio.sleep(random.uniform(0.0, LONGEST_ANSWER))


async def used(elsewhere: Elsewhere) -> list[Interaction]:
    """Many commands at random moments, each once the bot had the time to acknowledge it."""
    peer = elsewhere.peer
    guild = next(iter(peer.world.guilds.values()))
    channel, alice = guild.channels[0], peer.world.person("alice")
    made = []
    for number in range(COMMANDS):
        await asyncio.sleep(random.expovariate(A_SECOND))
        made.append(
            await peer.interactions.slash(channel, alice, "ask", question=f"question {number}?")
        )
    await peer.until(lambda: len(peer.bodies(CALLBACK)) == COMMANDS, within=30)
    return made


async def test_commands_are_deferred_at_once_while_the_loop_stalls() -> None:
    desk = DiscordDesk()
    desk.hands, desk.writes = COMMANDS, think
    with discord_elsewhere() as elsewhere:
        peer, markers = elsewhere.peer, Markers()
        peer.world.text_channel(peer.world.guild())
        parts = DiscordParts(desk=desk, markers=markers, admissions=discord_admissions())
        config = config_for(peer, request_seconds=5.0)
        async with open_discord(config, parts) as platform, desk.serving(platform):
            await peer.until(lambda: platform.is_ready and markers.knows_commands)
            stalling = asyncio.create_task(stall())
            made = await elsewhere.do(lambda: used(elsewhere))
            stalling.cancel()
        waits = sorted((each.answered_at or TOO_LATE) - each.made_at for each in made)
        late = [each for each in made if each.callback != DEFER]
        assert len(late) <= max(1, COMMANDS // 1000)
        print(
            f"{COMMANDS} commands, stalls up to {LONGEST_STALL} s: deferred after"
            f" {waits[len(waits) // 2] * 1000:.0f} ms (median),"
            f" {waits[-1 - COMMANDS // 1000] * 1000:.0f} ms (p99.9), {waits[-1] * 1000:.0f} ms"
            " (longest)"
        )
        peer.forgive()  # what the end cut off
