"""Discord's gateway, through the real client library: log-in, intents, and coming back."""

from __future__ import annotations

import asyncio
import logging

import pytest
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.assembly import DiscordParts
from adapters.discord.client import open_discord
from adapters.discord.hearing.entrance import AT_THE_DESK
from rag_core.desk.incoming import IncomingQuestion, Receipt
from rag_core.errors import ConfigurationError, DeskFull
from tests.fakes.discord_desk import DiscordDesk
from tests.fakes.tenants import discord_admissions
from tests.flow.discord_flow import Course, Markers, config_for, on_a_course, running
from tests.peers.discord import ME, open_discord_peer
from tests.peers.discord_gateway import (
    DIRECT_MESSAGES,
    GUILD_MESSAGES,
    GUILDS,
    IDENTIFY,
    MESSAGE_CONTENT,
    RESUME,
)
from tests.peers.discord_limits import Trouble

QUESTION = "How many questions may I ask a day?"


async def resumed(course: Course, times: int = 1) -> None:
    await course.until(lambda: len(course.peer.gateway.sent(RESUME)) >= times)
    await course.until(lambda: course.platform and course.platform.is_ready)


async def test_it_asks_for_the_least_intents() -> None:
    async with on_a_course() as course:
        (identify,) = course.peer.gateway.sent(IDENTIFY)
        asked = identify["d"]["intents"]
        assert asked == GUILDS | GUILD_MESSAGES | DIRECT_MESSAGES | MESSAGE_CONTENT


async def test_a_missing_content_intent_is_said_once_and_mentions_are_still_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_discord_peer() as peer:
        peer.gateway.allowed.clear()
        course = Course(peer, DiscordDesk())
        async with running(course):
            asked = await peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
            await course.answered()
            thread = peer.world.channels[asked.id]
            await peer.say(thread, course.alice, "And on Sundays?")  # has no text for the bot
            await peer.say(peer.world.direct(course.alice), course.alice, "And on Mondays?")
            await course.answered(2)
            await course.quiet()
        assert course.desk.texts == [QUESTION, "And on Mondays?"]
    told = [record for record in caplog.records if "message content intent" in record.message]
    assert len(told) == 1
    assert told[0].levelno == logging.WARNING


async def test_a_refused_token_is_one_line_that_names_the_setting() -> None:
    async with open_discord_peer() as peer:
        config = config_for(peer, token="wrong-secret")
        with pytest.raises(ConfigurationError) as refused:
            async with open_discord(
                config,
                DiscordParts(
                    desk=DiscordDesk(), markers=Markers(), admissions=discord_admissions()
                ),
            ):
                pass
        sentence = str(refused.value)
        assert sentence.startswith("DISCORD_BOT_TOKEN was refused")
        assert "\n" not in sentence
        assert "wrong-secret" not in sentence
        assert any("401" in refusal for refusal in peer.forgive())


async def test_a_token_that_the_gateway_refuses_names_the_setting_too() -> None:
    async with open_discord_peer() as peer:
        peer.gateway.token = "another"
        async with open_discord(
            config_for(peer),
            DiscordParts(desk=DiscordDesk(), markers=Markers(), admissions=discord_admissions()),
        ) as platform:
            with pytest.raises(ConfigurationError, match="DISCORD_BOT_TOKEN was refused"):
                await platform.run()
            assert not platform.is_ready


async def test_a_message_sent_while_it_reconnects_is_answered_after_the_resume() -> None:
    async with on_a_course() as course:
        await course.peer.gateway.ask_reconnect()
        await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.answered()
        await resumed(course)
        assert len(course.peer.gateway.sent(IDENTIFY)) == 1
        assert course.desk.texts == [QUESTION]


async def test_what_a_resume_repeats_is_one_question() -> None:
    async with on_a_course() as course:
        asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.answered()
        course.peer.gateway.replay_overlap = 20
        await course.peer.gateway.ask_reconnect()
        await resumed(course)
        await course.until(lambda: course.desk.repeats)
        await course.quiet()
        assert len(course.desk.delivered) == 1
        assert len(course.peer.seen_in(asked.id)) == 1


async def test_a_command_that_a_resume_repeats_is_acknowledged_again_and_answered_once() -> None:
    async with on_a_course() as course:
        actions = course.peer.interactions
        asked = await actions.slash(course.channel, course.alice, "ask", question=QUESTION)
        await course.answered()
        course.peer.gateway.replay_overlap = 20
        await course.peer.gateway.ask_reconnect()
        await resumed(course)
        await course.until(lambda: course.desk.repeats)
        await course.quiet()
        assert len(course.desk.delivered) == len(asked.shown) == 1
        assert course.peer.gateway.told_again[str(asked.id)] == 1
        (refused,) = course.peer.forgive()
        assert refused.startswith(f"POST /interactions/{asked.id}/")
        assert " 40060 " in refused


@pytest.mark.parametrize("code", [1000, 1001, 1011, 4000, 4008])
async def test_a_closed_connection_is_resumed(code: int) -> None:
    async with on_a_course() as course:
        await course.peer.gateway.cut(code)
        await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.answered()
        assert course.peer.gateway.sent(RESUME)


async def test_an_invalid_session_that_may_resume_does() -> None:
    async with on_a_course() as course:
        await course.peer.gateway.invalidate(resumable=True)
        await resumed(course)
        assert len(course.peer.gateway.sent(IDENTIFY)) == 1


async def test_an_invalid_session_identifies_anew_after_a_pause() -> None:
    async with on_a_course() as course:
        await course.peer.gateway.invalidate(resumable=False)
        await course.until(lambda: len(course.peer.gateway.sent(IDENTIFY)) == 2)
        await course.until(lambda: course.peer.gateway.connected)
        await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.answered()


async def test_it_is_not_ready_while_it_is_cut_off_and_does_not_storm() -> None:
    async with on_a_course() as course:
        platform = course.platform
        assert platform is not None
        assert platform.is_ready
        course.peer.gateway.away = True
        await course.peer.gateway.cut()
        await course.until(lambda: not platform.is_ready)
        await asyncio.sleep(0.3)
        assert course.peer.gateway.turned_away < 30
        course.peer.gateway.away = False
        await course.until(lambda: platform.is_ready)


async def test_a_discord_that_is_away_at_the_start_is_waited_for() -> None:
    async with open_discord_peer() as peer:
        peer.troubles.on(ME, Trouble(status=503), times=2)
        peer.troubles.on(ME, Trouble(reset=True), times=3)
        peer.troubles.on(ME, Trouble(hang=True))
        peer.troubles.on(ME, Trouble(status=500))  # the library alone would try for 25 seconds
        course = Course(peer, DiscordDesk())
        async with running(course, request_seconds=0.2):
            await peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
            await course.answered()


async def test_two_bots_in_one_process_keep_to_their_own_addresses() -> None:
    before = (Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY)
    async with on_a_course() as one, on_a_course() as other:
        for course in (one, other):
            await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await one.answered()
        await other.answered()
        assert before == (Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY)
        assert [len(c.desk.questions) for c in (one, other)] == [1, 1]


async def test_a_question_that_was_heard_reaches_the_desk_before_the_bot_closes() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        config = config_for(peer, accept_pauses=(0.3,))
        async with open_discord(
            config,
            DiscordParts(desk=course.desk, markers=course.markers, admissions=discord_admissions()),
        ) as platform:
            listening = asyncio.create_task(platform.run())
            await course.until(lambda: platform.is_ready)
            course.desk.out_of_order_for = 1
            await peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
            await course.until(lambda: course.desk.out_of_order_for == 0)
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
        assert course.desk.texts == [QUESTION]


class SmallEntrance(DiscordDesk):
    """A desk that writes slowly, and turns away who comes while too many are at it."""

    at_once, turned_away = 0, 0

    async def accept(self, question: IncomingQuestion) -> Receipt:
        if self.at_once >= AT_THE_DESK:
            self.turned_away += 1
            raise DeskFull("Too many questions arrive at once. Please ask again in a moment.")
        self.at_once += 1
        try:
            await asyncio.sleep(0.2)
            return await super().accept(question)
        finally:
            self.at_once -= 1


async def test_of_a_crowd_that_asks_at_once_nobody_is_turned_away() -> None:
    desk = SmallEntrance()
    desk.thinks.clear()
    async with on_a_course(desk) as course:
        for number in range(2 * AT_THE_DESK):
            text = f"{QUESTION} {number}"
            await course.peer.say(course.channel, course.alice, text, mentions_bot=True)
        await course.until(lambda: len(desk.taken) == 2 * AT_THE_DESK)
        assert not desk.turned_away
        desk.thinks.set()
