"""What Discord does not allow: the next way is taken, the asker is told, nobody storms."""

from __future__ import annotations

import pytest

from adapters.steward import Finding
from tests.builders import a_response
from tests.fakes.discord_desk import DiscordDesk
from tests.flow.discord_flow import Course, on_a_course, running
from tests.peers.discord import SEND, START_THREAD, open_discord_peer
from tests.peers.discord_limits import Trouble
from tests.peers.discord_world import Note

QUESTION = "How many questions may I ask a day?"
LONG = "\n\n".join(f"Paragraph {number}: " + "word " * 100 for number in range(12))


async def ask(course: Course, text: str = QUESTION) -> Note:
    return await course.peer.say(course.channel, course.alice, text, mentions_bot=True)


async def test_where_it_may_not_write_in_threads_the_answer_stands_below_the_question() -> None:
    async with on_a_course() as course:
        course.channel.denied.add("SEND_MESSAGES_IN_THREADS")
        asked = [await ask(course), await ask(course, "And on Sundays?")]
        await course.answered(2)
        answers = course.peer.seen_in(course.channel.id)
        assert [answer.reference for answer in answers] == asked
        assert len(course.peer.bodies(START_THREAD)) == 1
        assert all("50013" in refusal for refusal in course.peer.forgive())


async def test_where_it_may_not_write_at_all_the_asker_gets_a_private_word() -> None:
    async with on_a_course(DiscordDesk(lambda _: a_response(LONG))) as course:
        course.channel.denied |= {"SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS"}
        await ask(course)
        await course.answered()
        direct = course.peer.world.direct(course.alice)
        seen = course.peer.seen_in(direct.id)
        assert len(seen) == 4
        assert f"may not write in <#{course.channel.id}>" in seen[0].content
        refused = len(course.peer.forgive())
        for number in range(5):
            await ask(course, f"question {number}?")
        await course.answered(6)
        assert len(course.peer.forgive()) == 0
        assert refused < 10


async def test_a_channel_that_is_open_again_is_used_again() -> None:
    async with on_a_course() as course:
        other = course.peer.world.text_channel(course.guild, "other")
        await course.peer.routes.publish("CHANNEL_CREATE", other.as_json())
        course.channel.denied |= {"SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS"}
        await ask(course)
        asked = await course.peer.say(other, course.alice, QUESTION, mentions_bot=True)
        await course.answered(2)
        assert len(course.peer.seen_in(asked.id)) == 1
        course.peer.forgive()


async def test_the_admins_channel_is_told_once() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        admins = peer.world.text_channel(course.guild, "admins")
        course.channel.denied |= {"SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS"}
        places = {str(course.guild.id): str(admins.id)}
        async with running(course, admin_channels=places):
            for number in range(3):
                await ask(course, f"question {number}?")
            await course.answered(3)
        (told,) = peer.seen_in(admins.id)
        assert f"<#{course.channel.id}>" in told.content
        assert "doctor" in told.content
        peer.forgive()


async def test_who_takes_no_private_messages_is_given_up_and_counted() -> None:
    async with on_a_course() as course:
        course.channel.denied |= {"SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS"}
        course.peer.troubles.on("POST /users/@me/channels", Trouble(status=403, code=50007))
        await ask(course)
        await course.until(lambda: course.desk.given_up)
        assert course.desk.refusals[-1].retryable is False
        assert len(course.peer.forgive()) < 6


@pytest.mark.parametrize("code", [50083, 160005])
async def test_the_answer_to_a_locked_thread_comes_in_private(code: int) -> None:
    async with on_a_course() as course:
        asked = await ask(course)
        await course.answered()
        thread = course.peer.world.channels[asked.id]
        course.peer.troubles.on(SEND, Trouble(status=400, code=code), times=1)
        await course.peer.say(thread, course.alice, "And on Sundays?")
        await course.answered(2)
        assert len(course.peer.seen_in(asked.id)) == 1
        assert len(course.peer.seen_in(course.peer.world.direct(course.alice).id)) == 1


async def test_after_a_kick_the_answers_in_work_come_in_private() -> None:
    async with on_a_course() as course:
        course.desk.thinks.clear()
        await ask(course)
        await course.until(lambda: course.desk.progress)
        course.channel.denied.add("VIEW_CHANNEL")
        course.desk.thinks.set()
        await course.answered()
        direct = course.peer.world.direct(course.alice)
        assert len(course.peer.seen_in(direct.id)) == 1
        assert len(course.peer.forgive()) < 6


async def test_slow_mode_is_waited_for_when_it_is_short() -> None:
    async with on_a_course() as course:
        slow = Trouble(status=400, code=20016, retry_after=0.1)
        course.peer.troubles.on(SEND, slow)
        asked = await ask(course)
        await course.answered()
        assert len(course.peer.seen_in(asked.id)) == 1
        assert course.desk.refusals[0].retryable


def named(findings: list[Finding], name: str) -> Finding:
    return next(found for found in findings if name in found.name)


async def test_the_doctor_shows_what_is_missing_in_which_channel() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        peer.world.text_channel(course.guild, "fine")
        hidden = peer.world.text_channel(course.guild, "staff-only")
        hidden.denied.add("VIEW_CHANNEL")
        course.channel.denied |= {"CREATE_PUBLIC_THREADS", "ATTACH_FILES"}
        peer.gateway.allowed.clear()
        async with running(course, staff_roles={str(course.guild.id): "99"}) as platform:
            found = list(await platform.findings())
        lacking = named(found, "permissions (Create Public Threads, Attach Files")
        assert not lacking.in_place
        assert lacking.detail.startswith("1 channel lacks Create Public Threads, Attach Files")
        assert "#help on Course" in lacking.detail
        assert not any("staff-only" in each.detail for each in found)
        assert "Switch on Message Content Intent" in named(found, "message content").advice
        assert "DISCORD_STAFF" in named(found, "staff of Course").advice


async def test_forty_channels_that_lack_the_same_are_one_finding() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        for number in range(40):
            channel = peer.world.text_channel(course.guild, f"group-{number}")
            channel.denied |= {"CREATE_PUBLIC_THREADS"}
        mute = peer.world.text_channel(course.guild, "mute")
        mute.denied |= {"ATTACH_FILES"}
        async with running(course) as platform:
            found = [each for each in await platform.findings() if not each.in_place]
        forty, one = found
        assert forty.detail.startswith(
            "40 channels lack Create Public Threads: #group-0 on Course, "
        )
        assert forty.detail.endswith("#group-4 on Course and 35 more.")
        assert one.detail == "1 channel lacks Attach Files: #mute on Course."


async def test_where_nothing_is_missing_the_doctor_says_so_and_prints_the_invite_link() -> None:
    async with on_a_course() as course:
        assert course.platform is not None
        found = list(await course.platform.findings())
        assert all(each.in_place for each in found)
        link = named(found, "invite").detail
        client = course.peer.world.bot.id
        assert (
            f"client_id={client}&scope=bot+applications.commands&permissions=309237746688" in link
        )
