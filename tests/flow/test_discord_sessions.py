"""Discord sessions over breaks and restarts: resumed, counted, caught up with, never deaf long."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from time import time
from typing import Any

import pytest

from adapters.discord.assembly import DiscordParts
from adapters.discord.client import open_discord
from adapters.discord.config import ShardRange
from adapters.discord.gateway.sessions import HOUR, IdentifyBudget
from rag_core.books.policy import ChannelPolicy
from tests.fakes.discord_desk import DiscordDesk
from tests.fakes.tenants import discord_admissions
from tests.flow.discord_flow import Course, Markers, config_for, on_a_course, running
from tests.peers.discord import open_discord_peer
from tests.peers.discord_gateway import IDENTIFY, RESUME
from tests.peers.discord_limits import Trouble
from tests.peers.discord_world import FORUM

QUESTION = "How many questions may I ask a day?"
QUICK = {"beat_seconds": 0.05, "silence_seconds": 0.3, "open_seconds": 0.3}
HISTORY = "GET /channels/:c/messages"
MESSAGE = "GET /channels/:c/messages/:m"
GUILD = "GET /guilds/:g"


def sent(course: Course) -> tuple[int, int]:
    gateway = course.peer.gateway
    return len(gateway.sent(IDENTIFY)), len(gateway.sent(RESUME))


async def ask(course: Course, text: str = QUESTION) -> None:
    before = len(course.desk.delivered)
    await course.peer.say(course.channel, course.alice, text, mentions_bot=True)
    await course.answered(before + 1)


async def test_a_quick_restart_resumes_and_answers_what_was_asked_meanwhile() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course):
            await ask(course)
        direct = peer.world.direct(course.bob)
        await peer.say(direct, course.bob, "And in private?")
        asked = await peer.say(course.channel, course.alice, "And on Sundays?", mentions_bot=True)
        async with running(course):
            await course.answered(3)
            assert sent(course) == (1, 1)
            thread = peer.world.channels[asked.id]
            await peer.say(thread, course.bob, "And on Mondays?")
            await course.answered(4)
        assert course.desk.texts[-1] == "And on Mondays?"
        read = {q.key.channel_id for q in course.desk.questions if q.key.tenant != "direct"}
        assert read == {str(course.channel.id)}


async def test_a_resumed_process_knows_its_forums_roles_and_threads() -> None:
    class Everywhere:
        async def policy_for(self, **_: Any) -> ChannelPolicy:
            return ChannelPolicy(auto_answer=True)

    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk(), parts={"policies": Everywhere()})
        forum = peer.world.text_channel(course.guild, "questions", kind=FORUM)
        async with running(course):
            await ask(course)
        async with running(course):
            assert sent(course) == (1, 1)
            role = course.guild.bot_role_id
            await peer.begin_post(forum, course.alice, "Limits", QUESTION)
            text = f"<@&{role}> in the channel?"
            await peer.say(course.channel, course.alice, text, roles=(role,))
            await course.answered(3)
        assert course.desk.texts[1:] == [f"Limits\n\n{QUESTION}", "in the channel?"]


async def test_servers_that_cannot_be_asked_for_cost_a_new_session() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course):
            await ask(course)
        peer.troubles.on(GUILD, Trouble(status=503))
        async with running(course):
            await ask(course)
            assert sent(course) == (2, 0)


async def test_a_session_that_discord_has_forgotten_begins_anew_and_misses_nothing() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        old = peer.world.thread(course.channel, "An older one", owner=course.bob)
        async with running(course):
            await ask(course)
            await peer.say(peer.world.direct(course.bob), course.bob, "In private?")
            await course.answered(2)
        await peer.say(course.channel, course.alice, "And on Sundays?", mentions_bot=True)
        await peer.say(old, course.bob, "And on Mondays?", mentions_bot=True)
        new = peer.world.thread(course.channel, "A new one", owner=course.alice)
        await peer.say(new, course.alice, "And on Tuesdays?", mentions_bot=True)
        await peer.say(peer.world.direct(course.bob), course.bob, "And at night?")
        quiet = peer.world.text_channel(course.guild, "quiet")
        peer.world.wrote_long_ago(quiet, course.bob, "Is anybody here?")
        peer.gateway.sessions.clear()
        async with running(course):
            await course.answered(6)
            await course.quiet()
        assert sorted(course.desk.texts[2:]) == [
            "And at night?", "And on Mondays?", "And on Sundays?", "And on Tuesdays?"
        ]  # fmt: skip
        assert sent(course) == (2, 1)
        read = {call.path.split("/")[2] for call in peer.calls if call.route == HISTORY}
        assert str(quiet.id) not in read


async def test_a_channel_whose_last_message_is_not_told_is_read() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        peer.tells_least()
        async with running(course):
            await ask(course)
        await peer.say(course.channel, course.alice, "And on Sundays?", mentions_bot=True)
        peer.gateway.sessions.clear()
        async with running(course):
            await course.answered(2)
        assert course.desk.texts[1:] == ["And on Sundays?"]


async def test_channels_that_we_may_not_read_are_not_asked_for() -> None:
    """Refusals are counted, and too many of them ban us."""
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        hidden = peer.world.text_channel(course.guild, "staff only")
        hidden.denied |= {"READ_MESSAGE_HISTORY"}
        async with running(course):
            await ask(course)
        for channel in (hidden, course.channel):
            await peer.say(channel, course.alice, "And on Sundays?", mentions_bot=True)
        peer.gateway.sessions.clear()
        async with running(course):
            await course.answered(2)
        read = {call.path.split("/")[2] for call in peer.calls if call.route == HISTORY}
        assert str(hidden.id) not in read


async def test_a_server_that_comes_back_after_the_start_is_read_then() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course):
            await ask(course)
        await peer.say(course.channel, course.alice, "And on Sundays?", mentions_bot=True)
        peer.gateway.sessions.clear()
        peer.outages.add(course.guild.id)
        async with running(course):
            await course.quiet()
            assert len(course.desk.questions) == 1
            await peer.ends_outage(course.guild)
            await course.answered(2)
            await course.quiet()
        assert course.desk.texts == [QUESTION, "And on Sundays?"]


async def test_edits_and_deletions_that_nobody_heard_are_found() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, desk := DiscordDesk(), parts={"lately": desk})
        async with running(course):
            notes = [
                await peer.say(course.channel, course.alice, f"{day}?", mentions_bot=True)
                for day in ("Monday", "Tuesday", "Friday")
            ]
            direct = await peer.say(peer.world.direct(course.bob), course.bob, "And in private?")
            await course.answered(4)
            thread = peer.world.channels[notes[0].id]
            follow_up = await peer.say(thread, course.alice, "And at night?")
            await course.answered(5)
        await peer.edit(notes[1], "Wednesday?")
        await peer.edit(follow_up, "And at noon?")
        await peer.delete(notes[2])
        await peer.delete(direct)
        peer.gateway.sessions.clear()
        async with running(course):
            await course.until(lambda: len(desk.withdrawn) == 2)
            await course.until(lambda: "And at noon?" in desk.texts)
            await course.until(lambda: "Wednesday?" in desk.texts)
        assert {question.message_id for question in desk.withdrawn} == {
            str(notes[2].id),
            str(direct.id),
        }
        assert "Monday?" in desk.texts
        refused = [refusal for refusal in peer.forgive() if "10008" in refusal]
        assert len(refused) == 2, "each deleted message was looked for once"


async def test_a_channel_that_is_closed_proves_no_deletion_and_is_asked_once() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, desk := DiscordDesk(), parts={"lately": desk})
        async with running(course):
            for number in range(3):
                await ask(course, f"Question {number}?")
        peer.gateway.sessions.clear()
        peer.troubles.on(MESSAGE, Trouble(status=403), times=3)
        async with running(course):
            await course.until(lambda: any(call.route == MESSAGE for call in peer.calls))
            await course.quiet()
        assert not desk.withdrawn
        assert len([call for call in peer.calls if call.route == MESSAGE]) == 1


async def test_a_channel_that_cannot_be_read_does_not_keep_the_others() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        other = peer.world.text_channel(course.guild, "other")
        async with running(course):
            await ask(course)
        for channel in (course.channel, other):
            await peer.say(channel, course.alice, "And on Sundays?", mentions_bot=True)
        peer.gateway.sessions.clear()
        peer.troubles.on(HISTORY, Trouble(status=403))
        async with running(course):
            await course.answered(2)
        assert len(course.desk.questions) == 2


async def test_a_channel_that_could_not_be_read_is_read_a_little_later() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course):
            await ask(course)
        await peer.say(course.channel, course.alice, "And on Sundays?", mentions_bot=True)
        peer.gateway.sessions.clear()
        peer.troubles.on(HISTORY, Trouble(hang=True))
        async with running(course, request_seconds=0.2, read_again_after=(0.05,)):
            await course.answered(2)


async def test_what_a_process_had_no_time_to_read_is_read_by_the_next_one() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course):
            await ask(course)
        await peer.say(course.channel, course.alice, "And on Sundays?", mentions_bot=True)
        peer.gateway.sessions.clear()
        peer.troubles.on(HISTORY, Trouble(hang=True))
        async with running(course):
            await course.until(lambda: peer.troubled)
        async with running(course):
            await course.answered(2)


async def test_the_first_start_of_all_reads_nothing_of_before() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        await peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        async with running(course):
            await course.quiet()
        assert course.desk.questions == []
        assert HISTORY not in {call.route for call in peer.calls}


async def test_many_missed_messages_are_read_page_by_page() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course):
            await ask(course)
        for number in range(250):
            await peer.say(course.channel, course.bob, f"chatter {number}")
        await peer.say(course.channel, course.alice, "And on Sundays?", mentions_bot=True)
        peer.gateway.sessions.clear()
        async with running(course):
            await course.answered(2)
        assert course.desk.texts[-1] == "And on Sundays?"


@pytest.mark.parametrize("listening", [True, False])
async def test_a_peer_that_hangs_is_noticed_and_left(listening: bool) -> None:
    """A half-open socket looks the same: nothing arrives, and nothing is refused."""
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course, **QUICK) as platform:
            peer.gateway.fall_silent()
            await course.until(lambda: not platform.is_ready)
            await peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
            if not listening:  # new connections hang as well for a while
                await asyncio.sleep(0.5)
            peer.gateway.wake()
            await course.until(lambda: platform.is_ready)
            await course.answered()
        assert sent(course)[0] == 1
        assert course.desk.texts == [QUESTION]


async def test_a_beat_that_stays_out_is_told_before_the_connection_is_given_up() -> None:
    bounds = {"beat_seconds": 0.05, "answer_seconds": 0.1, "silence_seconds": 60.0}
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course, **bounds) as platform:
            peer.gateway.fall_silent()
            await course.until(lambda: not platform.is_ready)
        assert sent(course) == (1, 0)


async def test_an_idle_connection_that_answers_its_beats_is_kept() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course, **QUICK) as platform:
            await asyncio.sleep(1.0)
            assert platform.is_ready
        assert sent(course) == (1, 0)


async def test_a_name_that_cannot_be_resolved_any_more_leads_back_to_the_gateway() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        peer.resume_url = "ws://gateway.invalid/"
        async with running(course, **QUICK) as platform:
            await peer.gateway.cut()
            await peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
            await course.until(lambda: not platform.is_ready)
            await course.answered()
            assert platform.is_ready
        assert sent(course) == (1, 1)


async def test_a_gateway_that_never_answers_a_resume_gets_a_new_session() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course, **QUICK) as platform:
            peer.gateway.ignores_resumes = True
            await peer.gateway.cut()
            await course.until(lambda: not platform.is_ready)
            await peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
            await course.until(lambda: platform.is_ready)
            await course.answered()
        assert sent(course) == (2, 1)


async def test_a_gateway_that_knows_of_no_shards_is_enough() -> None:
    async with open_discord_peer() as peer:
        peer.tells_shards = False
        course = Course(peer, DiscordDesk())
        async with running(course):
            await ask(course)


async def test_a_gateway_that_is_away_for_a_while_is_found_soon_after_it_is_back() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course, **QUICK) as platform:
            peer.gateway.away = True
            await peer.gateway.cut()
            await course.until(lambda: peer.gateway.turned_away >= 3)
            assert not platform.is_ready
            await peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
            peer.gateway.away = False
            await course.answered()
        assert sent(course) == (1, 1)


async def test_the_eleventh_start_waits_and_says_until_when(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_discord_peer() as peer:
        markers = Markers()
        name = f"discord:identifies:{peer.world.bot.id}"
        markers.kept[name] = json.dumps([time() - HOUR + 1.0 + n / 10 for n in range(10)])
        parts = DiscordParts(desk=DiscordDesk(), markers=markers, admissions=discord_admissions())
        async with open_discord(config_for(peer), parts) as platform:
            running = asyncio.create_task(platform.run())
            await peer.until(lambda: "sessions began" in caplog.text)
            assert not platform.is_ready
            assert peer.gateway.sent(IDENTIFY) == []
            (record,) = [r for r in caplog.records if "sessions began" in r.getMessage()]
            assert record.levelno == logging.WARNING
            assert "UTC" in record.getMessage()
            await peer.until(lambda: platform.is_ready)
            assert len(peer.gateway.sent(IDENTIFY)) == 1
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_sessions_of_processes_that_were_killed_count_and_clean_ends_do_not() -> None:
    markers = Markers()
    for _ in range(15):
        budget = IdentifyBudget(markers, "bot")
        await budget.spend()
        await budget.forgive()
    for _ in range(10):  # each process is gone without a word
        await IdentifyBudget(markers, "bot").spend()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await IdentifyBudget(markers, "bot").spend()
    later = IdentifyBudget(markers, "bot", now=lambda: time() + HOUR)
    await later.spend()


async def test_shards_share_the_servers_and_each_answers_its_own() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        for _ in range(40):
            if (peer.world.guild().id >> 22) % 2 != (course.guild.id >> 22) % 2:
                break
            await asyncio.sleep(0.002)
        guilds = [course.guild, list(peer.world.guilds.values())[-1]]
        channels = [course.channel, peer.world.text_channel(guilds[1])]
        async with running(course, shards=ShardRange(first=0, last=1, count=2)):
            shown = {tuple(frame["d"]["shard"]) for frame in peer.gateway.sent(IDENTIFY)}
            assert shown == {(0, 2), (1, 2)}
            for channel in channels:
                await peer.say(channel, course.alice, QUESTION, mentions_bot=True)
            await peer.say(peer.world.direct(course.alice), course.alice, "In private?")
            await course.answered(3)
        tenants = {question.key.tenant for question in course.desk.questions}
        assert tenants == {str(guilds[0].id), str(guilds[1].id), "direct"}


async def test_a_host_runs_its_own_shards_only() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        number = (course.guild.id >> 22) % 3
        async with running(course, shards=ShardRange(first=number, last=number, count=3)):
            assert [f["d"]["shard"] for f in peer.gateway.sent(IDENTIFY)] == [[number, 3]]
            await ask(course)


async def test_discord_may_propose_how_many_shards_there_are() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course, shards="auto"):
            await ask(course)
        assert "GET /gateway/bot" in {call.route for call in peer.calls}


async def test_one_shard_that_is_cut_off_makes_the_bot_unready_until_it_is_back() -> None:
    async with on_a_course() as course:
        platform = course.platform
        assert platform is not None
        course.peer.gateway.away = True
        await course.peer.gateway.cut()
        await course.until(lambda: not platform.is_ready)
        course.peer.gateway.away = False
        await course.until(lambda: platform.is_ready)
        await ask(course)


class Reading(logging.Handler):
    """Whether the reading of what was missed has come to its end."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.times += record.getMessage() == "missed messages were read"


@pytest.fixture
def reading(caplog: pytest.LogCaptureFixture) -> Iterator[Reading]:
    caplog.set_level(logging.INFO)
    handler = Reading()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


async def test_what_one_process_could_not_read_is_left_to_the_next(reading: Reading) -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course):
            await ask(course)
        await peer.say(course.channel, course.alice, "And on Sundays?", mentions_bot=True)
        peer.gateway.sessions.clear()
        peer.troubles.on(HISTORY, Trouble(status=503), times=4)
        async with running(course, read_again_after=(0.01,)):
            await course.until(lambda: reading.times)
            await course.quiet()
        assert course.desk.texts == [QUESTION]
        assert not peer.troubles.are_waiting(HISTORY), "it was read meanwhile"
        async with running(course):
            await course.answered(2)
        assert course.desk.texts == [QUESTION, "And on Sundays?"]


async def test_a_stop_in_the_outage_of_a_server_loses_nothing_that_was_said_in_it(
    reading: Reading,
) -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course):
            await ask(course)
        await peer.say(course.channel, course.alice, "And on Sundays?", mentions_bot=True)
        peer.gateway.sessions.clear()
        peer.outages.add(course.guild.id)
        async with running(course):
            await course.until(lambda: reading.times)
            await course.quiet()
        assert course.desk.texts == [QUESTION]
        peer.outages.clear()
        async with running(course):
            await course.answered(2)
        assert course.desk.texts == [QUESTION, "And on Sundays?"]
