"""Deliveries that repeat and overtake each other, and posts whose outcome is unknown."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from tests.faults.checker import figures
from tests.faults.proxy import FaultProxy, Weather, fault_proxy
from tests.faults.row import Outcome, Scale, judged
from tests.faults.shared_yard import two_processes
from tests.faults.yard import Yard, yard
from tests.peers.discord import SEND
from tests.peers.discord_limits import Trouble
from tests.peers.slack import RETRY_AFTER, Fault

PATIENCE = 240.0
IN_FLIGHT = 0.3
COPIES = 4
"""How often each event is sent again; a mention is two events, so ten deliveries in all."""
TROUBLES = (
    Fault.RATE_LIMITED,
    Fault.SERVER_ERROR,
    Fault.PLAIN_TEXT,
    Fault.RESET,
    Fault.LOST_RESPONSE,
    Fault.GARBAGE,
)

TROUBLES_IN_DISCORD = (
    Trouble(status=429, retry_after=0.5),
    Trouble(status=500),
    Trouble(status=502, takes_effect=True),
    Trouble(reset=True),
    Trouble(reset=True, takes_effect=True),
)
STORM = Weather(refuse=0.03, reset=0.03, cut=0.03, half_open=0.005, latency=0.02)


async def deliveries(scale: Scale) -> Outcome:
    """Every message is delivered ten times: both kinds of event, shuffled, and after a restart."""
    async with yard(scale.folder, seed=scale.seed) as place:
        return await delivered_often(place, scale)


async def deliveries_on_postgres(scale: Scale) -> Outcome:
    """The same with two processes on one database, which get the deliveries in turn."""
    async with two_processes(scale) as place:
        return await delivered_often(place, scale)


async def delivered_often(place: Yard, scale: Scale) -> Outcome:
    messages = scale.of(1000, least=10)
    channels = place.channels(50)
    house = await place.start()
    await house.ready()
    delivered = 0
    for half in range(2):
        for number in range(messages // 2):
            place.ask(channels[number % len(channels)], f"t{number % 61}" if number % 3 else "")
            if number % 20 == 19:
                delivered += await again(place, copies=COPIES)
                await place.slack.heard()
        delivered += await again(place, copies=COPIES)
        await place.slack.heard()
        if not half:
            await house.kill()
            house = await place.start()
            await house.ready()
    ended = await place.until_ended(within=PATIENCE)
    outcome = Outcome(figures={"deliveries": delivered + len(place.slack.envelopes())})
    outcome.must(ended, "not everything ended")
    return judged(outcome, figures(place.record()))


async def again(place: Yard, *, copies: int) -> int:
    """The newest events once more, in another order."""
    newest = place.slack.envelopes()[-40:]
    wanted = [envelope for envelope in newest for _ in range(copies)]
    place.random.shuffle(wanted)
    for envelope in wanted:
        place.slack.repeat(envelope)
        if place.random.random() < 0.2:
            await asyncio.sleep(0)
    return len(wanted)


async def posts(scale: Scale) -> Outcome:
    """Posts that are answered 429, 5xx or garbage, hang, or are cut before or after they took
    effect, on both platforms; and all that is asked of Slack goes by a way that fails."""
    messages = scale.of(1000, least=20)
    async with (
        yard(scale.folder, seed=scale.seed, with_discord=True) as place,
        bad_way_to_slack(place) as proxy,
    ):
        assert place.discord is not None
        world = place.discord.world
        guild = world.guild()
        servers = [world.text_channel(guild) for _ in range(10)]
        person = world.person("alice")
        channels = place.channels(50)
        house = await place.start()
        await house.ready()
        proxy.weather = STORM
        for number in range(messages):
            if number % 4 == 0:
                place.discord.troubles.on(SEND, place.random.choice(TROUBLES_IN_DISCORD))
            if number % 3 == 1:
                await place.ask_in_discord(servers[number % 10], person, new=True)
            if number % 3 == 0:
                place.slack.fails("chat.postMessage", place.random.choice(TROUBLES))
            if number % (messages // 4 or 1) == 1:
                place.slack.fails("chat.postMessage", Fault.HANG)
            place.ask(channels[number % len(channels)])
            await asyncio.sleep(0.02)
        place.discord.troubles.on(SEND, Trouble(hang=True))
        ended = await place.until_ended(within=PATIENCE + messages / 2)
        # A call that was on its way when another one was refused could not know.
        early = sum(seconds < RETRY_AFTER - IN_FLIGHT for seconds in place.slack.early)
        outcome = Outcome(figures={"asked_again_too_early": early, "fates": dict(proxy.fates)})
        outcome.must(ended, "not everything ended")
        outcome.must(not early, "Retry-After was not honoured")
        return judged(outcome, figures(place.record()))


@contextlib.asynccontextmanager
async def bad_way_to_slack(place: Yard) -> AsyncIterator[FaultProxy]:
    """Slack's Web API behind a proxy; fair weather, until that is changed."""
    host, _, port = place.slack.base.removeprefix("http://").partition("/")[0].partition(":")
    async with fault_proxy(host, int(port), seed=place.random.getrandbits(32)) as proxy:
        place.settings["SLACK_API_BASE"] = f"http://{proxy.address}/api/"
        yield proxy


async def threads(scale: Scale) -> Outcome:
    """Many threads with ten questions each, on both platforms at once."""
    number, turns = scale.of(500, least=6), 10
    async with yard(scale.folder, seed=scale.seed, with_discord=True) as place:
        assert place.discord is not None
        guild = place.discord.world.guild()
        channels = [place.discord.world.text_channel(guild) for _ in range(10)]
        person = place.discord.world.person("alice")
        house = await place.start()
        await house.ready()
        slack_channels = place.channels(50)
        heads = []
        for at in range(number // 2):
            place.ask(slack_channels[at % 50], f"t{at}")
            heads.append(await place.ask_in_discord(channels[at % 10], person, new=True))
        await place.until_ended(within=PATIENCE)
        for _ in range(turns - 1):
            for at, head in enumerate(heads):
                place.ask(slack_channels[at % 50], f"t{at}")
                thread = place.discord.world.channels[int(head.place[2])]
                await place.ask_in_discord(thread, person, new=False)
            await asyncio.sleep(0.2)
        ended = await place.until_ended(within=PATIENCE + number * turns / 2)
        outcome = Outcome(figures={"threads": 2 * len(heads), "turns_each": turns})
        outcome.must(ended, "not everything ended")
        return judged(outcome, figures(place.record()))
