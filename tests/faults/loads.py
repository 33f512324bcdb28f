"""Load: how long askers wait, what the process needs, and who pays for somebody else's flood."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from time import monotonic

from tests.faults.checker import figures
from tests.faults.record import Sent
from tests.faults.row import Outcome, Scale, judged, share
from tests.faults.yard import House, Yard, yard
from tests.peers.discord import DiscordPeer
from tests.peers.discord_world import Channel
from tests.peers.slack import ANN, BEN

A_SECOND = 20
MODEL_SECONDS = 2.0
SLOW_MODEL_SECONDS = 40.0
LONGEST_WAIT = 120.0
"""Who waits longer in the queue is told."""
CLEARED_SECONDS = 240.0
LOOKED_UP = ("160004", "10003", "10008")
"""What Discord says where a lost process had made a thread, or had not, or somebody has taken a
message away."""
ACKNOWLEDGED = re.compile(r"POST /interactions/(\d+)/\S+: 400 40060 ")
TICKS = os.sysconf("SC_CLK_TCK")
MEGABYTE = 2**20


async def load(scale: Scale) -> Outcome:
    """Twenty questions a second, with a model that takes two seconds."""
    seconds = max(5.0, 600 * scale.share)
    async with yard(scale.folder, seed=scale.seed, model_seconds=MODEL_SECONDS) as place:
        place.settings["FOOTNOTE_PARALLEL_ANSWERS"] = "128"
        house = await place.start()
        await house.ready()
        await warm(place)
        worked, began = cpu_seconds(house), monotonic()
        asked = await ask_steadily(place, A_SECOND, seconds, place.channels(200))
        ended = await place.until_ended(within=120)
        cores = (cpu_seconds(house) - worked) / (monotonic() - began)
        accepted = accept_seconds(place)
        own = own_times(place, asked)
        outcome = Outcome(
            figures={
                "questions": len(asked),
                "own_times": len(own),
                "accepted_p99_ms": ms(share(accepted, 0.99)),
                "own_p50_ms": ms(share(own, 0.5)),
                "own_p99_ms": ms(share(own, 0.99)),
                "cores": round(cores, 2),
            }
        )
        outcome.must(ended, "not everything ended")
        outcome.must(len(own) == len(asked), "not every answer's time is known")
        outcome.must(share(accepted, 0.99) < 0.3, "accepted p99 is not under 300 ms")
        outcome.must(share(own, 0.5) < 0.05, "own p50 is not under 50 ms")
        outcome.must(share(own, 0.99) < 0.25, "own p99 is not under 250 ms")
        outcome.must(cores < 1.5, "1.5 cores or more")
        return judged(outcome, figures(place.record()))


async def fairness(scale: Scale) -> Outcome:
    """One person asks a thousand questions a minute; how long do others wait?"""
    seconds = max(6.0, 60 * scale.share)
    async with yard(scale.folder, seed=scale.seed, model_seconds=0.5) as place:
        place.settings["FOOTNOTE_PARALLEL_ANSWERS"] = "8"
        house = await place.start()
        await house.ready()
        await warm(place)
        # Somewhere else: in one channel all wait for the second that Slack wants between posts.
        elsewhere = place.channels(230)[200:]
        alone = await ask_steadily(place, 1, seconds, elsewhere, user=BEN)
        await place.until_ended(within=60)
        flooded = place.channels(200)
        flood = asyncio.create_task(ask_steadily(place, 1000 / 60, seconds, flooded, user=ANN))
        beside = await ask_steadily(place, 1, seconds, elsewhere, user=BEN)
        await flood
        ended = await place.until_ended(within=300)
        quiet, loud = share(waits(place, alone), 0.95), share(waits(place, beside), 0.95)
        outcome = Outcome(
            figures={"others_p95_alone_ms": ms(quiet), "others_p95_beside_ms": ms(loud)}
        )
        outcome.must(ended, "not everything ended")
        outcome.must(loud <= 2 * quiet, "others wait more than twice as long")
        return judged(outcome, figures(place.record()))


async def tenant(scale: Scale) -> Outcome:
    """A workspace in Slack has 95 % of the load; how long does a server in Discord wait?"""
    seconds = max(8.0, 60 * scale.share)
    async with yard(scale.folder, seed=scale.seed, model_seconds=0.5, with_discord=True) as place:
        place.settings["FOOTNOTE_PARALLEL_ANSWERS"] = "8"
        assert place.discord is not None
        world = place.discord.world
        channel = world.text_channel(world.guild())
        house = await place.start()
        await house.ready()
        await warm(place)
        await ask_in_a_server(place, channel, seconds)
        await place.until_ended(within=60)
        alone, number = waits_in_discord(place), len(place.sent)
        flood = asyncio.create_task(ask_steadily(place, 19, seconds, place.channels(200)))
        await ask_in_a_server(place, channel, seconds)
        await flood
        ended = await place.until_ended(within=300)
        beside = waits_in_discord(place)[len(alone) :]
        quiet, loud = share(alone, 0.95), share(beside, 0.95)
        outcome = Outcome(
            figures={
                "questions": len(place.sent) - number,
                "others_p95_alone_ms": ms(quiet),
                "others_p95_beside_ms": ms(loud),
            }
        )
        outcome.must(ended, "not everything ended")
        outcome.must(loud <= 2 * quiet, "others wait more than twice as long")
        return judged(outcome, figures(place.record()))


async def ask_in_a_server(place: Yard, channel: Channel, seconds: float) -> None:
    """One question a second, each in a new thread."""
    assert place.discord is not None
    person = place.discord.world.person(f"alice-{len(place.sent)}")
    for _ in range(round(seconds)):
        await place.ask_in_discord(channel, person, new=True)
        await asyncio.sleep(1.0)


def waits_in_discord(place: Yard) -> list[float]:
    """From the acceptance of a question to the last part of its answer, in the order asked."""
    rows = place.rows(
        "SELECT accepted_at, closed_at FROM questions WHERE platform = 'discord'"
        " AND closed_at IS NOT NULL ORDER BY accepted_at"
    )
    return [
        (
            datetime.fromisoformat(row["closed_at"]) - datetime.fromisoformat(row["accepted_at"])
        ).total_seconds()
        for row in rows
    ]


async def backlog(scale: Scale) -> Outcome:
    """The model is so slow that people wait longer than anybody should; then it is itself again,
    and nothing of that time may keep the queue from being worked off."""
    seconds = max(LONGEST_WAIT + 30.0, 300 * scale.share)
    async with yard(scale.folder, seed=scale.seed, with_discord=True) as place:
        place.settings["FOOTNOTE_PARALLEL_ANSWERS"] = "128"
        place.slack.api.limits.on = True
        assert place.discord is not None
        world = place.discord.world
        server = world.guild()
        house = await place.start()
        await house.ready()
        await warm(place)
        place.model.seconds = SLOW_MODEL_SECONDS
        async with asyncio.TaskGroup() as asking:
            asking.create_task(ask_steadily(place, 15, seconds, place.channels(200)))
            for _ in range(5):
                asking.create_task(ask_in_a_server(place, world.text_channel(server), seconds))
        place.model.seconds = MODEL_SECONDS
        began, waiting = monotonic(), place.open_work()
        ended = await place.until_ended(within=CLEARED_SECONDS)
        told = "SELECT count(*) AS n FROM questions WHERE told_at IS NOT NULL"
        outcome = Outcome(
            figures={
                "waiting": waiting,
                "told": int(place.rows(told)[0]["n"]),
                "cleared_after": round(monotonic() - began, 1),
            }
        )
        outcome.must(ended, "the queue was not worked off")
        refused = refused_in_discord(place.discord)
        outcome.must(not refused, f"Discord refused {refused[:5]}")
        return judged(outcome, figures(place.record()))


async def soak(scale: Scale) -> Outcome:
    """Many messages in many threads: what the process holds must not grow."""
    messages, threads = scale.of(50_000, least=300), scale.of(5_000, least=30)
    async with yard(scale.folder, seed=scale.seed) as place:
        place.settings["FOOTNOTE_LOG_LEVEL"] = "warning"
        house = await place.start(FOOTNOTE_LOG_LEVEL="info")
        await house.ready()
        channels, after_warm_up = place.channels(400), None
        for number in range(messages):
            thread = number % threads
            place.ask(channels[thread % len(channels)], f"t{thread}")
            if number % 200 == 199:
                await place.until_ended(within=240)
            if number == messages // 5:
                after_warm_up = held(house)
        ended = await place.until_ended(within=300)
        assert after_warm_up is not None
        grown = {name: value - after_warm_up[name] for name, value in held(house).items()}
        outcome = Outcome(figures={"messages": messages, "threads": threads, "grown": grown})
        outcome.must(ended, "not everything ended")
        outcome.must(grown["memory_mb"] < 20, "memory grew by 20 MB or more")
        outcome.must(grown["files"] <= 3, "open files grew")
        return judged(outcome, figures(place.record()))


async def ask_steadily(
    place: Yard, a_second: float, seconds: float, channels: Sequence[str], *, user: str = ANN
) -> list[tuple[Sent, float]]:
    """What was asked, and when."""
    asked, began = [], monotonic()
    for number in range(max(1, round(a_second * seconds))):
        await asyncio.sleep(max(0.0, began + number / a_second - monotonic()))
        asked.append((place.ask(channels[number % len(channels)], user=user), monotonic()))
    return asked


async def warm(place: Yard) -> None:
    for channel in place.channels(5):
        place.ask(channel)
    await place.until_ended(within=60)


def waits(place: Yard, asked: Sequence[tuple[Sent, float]]) -> list[float]:
    """How long each of these questions waited for its whole answer."""
    answered = answered_at(place)
    return [answered[sent.message_id] - at for sent, at in asked if sent.message_id in answered]


def own_times(place: Yard, asked: Sequence[tuple[Sent, float]]) -> list[float]:
    """The same without what the model took of it."""
    answered = answered_at(place)
    return [
        answered[sent.message_id] - at - place.model.seconds_for(sent.canary)
        for sent, at in asked
        if sent.message_id in answered
    ]


def answered_at(place: Yard) -> dict[str, float]:
    """When each thread had the answer to its first question: posted, or written over its draft."""
    threads = {shown.ts: shown.thread_ts for shown in place.slack.world.everything_of_the_bot()}
    answered: dict[str, float] = {}
    for method in ("chat.postMessage", "chat.update"):
        for call in place.slack.calls(method):
            if call.error is None and call.arguments.get("metadata"):
                thread = call.arguments.get("thread_ts") or threads.get(str(call.arguments["ts"]))
                # Of an answer that was taken away since, nothing is left to tell its thread by.
                answered[str(thread)] = min(call.at, answered.get(str(thread), call.at))
    return answered


def accept_seconds(place: Yard) -> list[float]:
    return [
        envelope.acked_at - envelope.sent_at[0]
        for envelope in place.slack.envelopes()
        if envelope.acked_at is not None
    ]


def cpu_seconds(house: House) -> float:
    text = Path(f"/proc/{house.process.pid}/stat").read_text(encoding="ascii")
    values = text.rpartition(")")[2].split()
    return (int(values[11]) + int(values[12])) / TICKS


def held(house: House) -> dict[str, float]:
    """What a process has of memory and open files."""
    folder = Path(f"/proc/{house.process.pid}")
    pages = int((folder / "statm").read_text(encoding="ascii").split()[1])
    resident = pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
    return {"memory_mb": round(resident, 1), "files": len(list((folder / "fd").iterdir()))}


def refused_in_discord(discord: DiscordPeer) -> list[str]:
    """What Discord should never have been asked. Whether a thread or a line is there is asked of
    questions that have waited for long: a process that is gone may have made it. An interaction is
    acknowledged once more for each time that a resumed session tells it again."""
    told_again = discord.gateway.told_again.copy()

    def is_foreseen(said: str) -> bool:
        if again := ACKNOWLEDGED.match(said):
            told_again[again[1]] -= 1
            return told_again[again[1]] >= 0
        return any(code in said for code in LOOKED_UP)

    return [said for said in discord.forgive() if not is_foreseen(said)]


def ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
