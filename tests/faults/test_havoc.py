"""What goes wrong is bounded, ends by itself, and is known by whom it touched."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.faults.havoc import AFTER, BEFORE, SLACK_METHODS, Havoc, Outage
from tests.faults.loads import refused_in_discord
from tests.faults.paper_day import a_yard
from tests.peers.slack_world import BOT, SlackChannel, SlackMessage

CHANNEL = "C1"


def a_havoc(folder: Path) -> Havoc:
    return Havoc(a_yard(folder), None)


def test_an_outage_touches_who_asks_shortly_before_and_after_it(tmp_path: Path) -> None:
    havoc = a_havoc(tmp_path)
    havoc.outages.append(Outage(100.0, 110.0))
    moments = (100 - BEFORE - 1, 100 - BEFORE + 1, 105.0, 110 + AFTER - 1, 110 + AFTER + 1)
    assert [havoc.is_calm_at(at) for at in moments] == [True, False, False, False, True]


def test_troubles_that_nobody_meets_do_not_pile_up(tmp_path: Path) -> None:
    havoc = a_havoc(tmp_path)
    for _ in range(400):
        havoc.trouble_somebody()
    assert len(havoc.place.model.troubles) == 1
    assert all(havoc.place.slack.will_fail(method) <= 1 for method in SLACK_METHODS)
    assert havoc.made == 400


def test_it_is_known_in_which_threads_a_call_went_wrong(tmp_path: Path) -> None:
    havoc = a_havoc(tmp_path)
    place = SlackChannel(CHANNEL, "channel", set())
    place.messages["2.1"] = SlackMessage("2.1", CHANNEL, BOT, "Ten.", thread_ts="2.0", bot_id=BOT)
    havoc.place.slack.world.channels[CHANNEL] = place
    havoc.place.slack.troubled += [{"thread_ts": "1.0"}, {"ts": "2.1"}]
    assert havoc.place.discord is not None
    havoc.place.discord.troubled.append("/channels/77/messages")
    assert havoc.troubled_threads() >= {"1.0", "2.0", "77"}


def test_a_second_acknowledgement_is_foreseen_only_where_a_resume_asked_for_it(
    tmp_path: Path,
) -> None:
    discord = a_havoc(tmp_path).place.discord
    assert discord is not None
    repeated, other = (
        f"POST /interactions/{number}/token/callback: 400 40060 Interaction" for number in (77, 78)
    )
    unknown = "POST /interactions/77/token/callback: 404 10062 Unknown interaction"
    discord.gateway.told_again["77"] += 1
    lookup = "GET /channels/5: 404 10003 Unknown Channel"
    discord.refusals += [repeated, other, unknown, lookup, repeated]
    assert refused_in_discord(discord) == [other, unknown, repeated]


async def test_a_storm_takes_the_model_away_and_brings_it_back(tmp_path: Path) -> None:
    havoc = a_havoc(tmp_path)
    storm = asyncio.create_task(havoc.storm(seconds=0.05))
    await asyncio.sleep(0.01)
    assert havoc.place.model.down
    await storm
    assert not havoc.place.model.down
    assert len(havoc.outages) == 1
    for _ in range(40):
        havoc.trouble_somebody()
    assert not havoc.place.model.troubles, "whoever tries whether it is back finds it well"


async def test_what_is_told_once_is_not_told_while_the_program_is_away(tmp_path: Path) -> None:
    havoc = a_havoc(tmp_path)
    async with havoc.restart(hush=0.0):
        assert not havoc.is_heard
    assert havoc.is_heard
    assert len(havoc.outages) == 1
