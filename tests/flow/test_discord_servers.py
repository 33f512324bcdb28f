"""Only servers that are allowed are served on Discord: by everything that can come in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from adapters.discord.hearing.servers import NO_SHARED_SERVER, NOT_ALLOWED
from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.tenants import Trust
from tests.fakes.discord_desk import DiscordDesk
from tests.fakes.discord_shelf import Shelf
from tests.fakes.steward import SmallHouse
from tests.fakes.tenants import discord_admissions
from tests.flow.discord_flow import Course, on_a_course, running
from tests.flow.test_discord_buttons import rated
from tests.flow.test_discord_listening import PolicyTable
from tests.peers.discord import HISTORY, SEND, open_discord_peer
from tests.peers.discord_interactions import FORM
from tests.peers.discord_world import Channel, Guild, Note

QUESTION = "How many questions may I ask a day?"
MEMBER = "GET /guilds/:g/members/:m"
MANAGE_GUILD = 1 << 5


async def joins(course: Course, name: str = "Foreign", *, system: bool = False) -> Channel:
    """Somebody adds the bot to another server; its first channel."""
    world = course.peer.world
    guild = world.guild(name)
    channel = world.text_channel(guild, "lobby")
    guild.system_channel = channel if system else None
    await course.peer.routes.publish("GUILD_CREATE", guild.as_json(world.bot))
    await course.until(lambda: tenant(guild) in {known for _, known in course.tenants.trust})
    return channel


def tenant(guild: Guild) -> TenantId:
    return TenantId(str(guild.id))


def guild_of(course: Course, channel: Channel) -> Guild:
    assert channel.guild_id is not None
    return course.peer.world.guilds[channel.guild_id]


async def decides(course: Course, guild: Guild, trust: Trust) -> None:
    """What `footnote servers` does in the running bot."""
    await discord_admissions(course.tenants).decide(tenant(guild), trust)


async def heard_everything(course: Course) -> None:
    """Wait for a question behind all others: what came before it has been heard by then."""
    before = len(course.desk.delivered)
    await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
    await course.answered(before + 1)


async def test_servers_of_the_first_start_are_trusted_and_a_later_one_waits() -> None:
    async with on_a_course() as course:
        assert course.tenants.trust == {(Platform.DISCORD, tenant(course.guild)): Trust.ALLOWED}
        foreign = await joins(course)
        await course.peer.say(foreign, course.bob, QUESTION, mentions_bot=True)
        [told] = await course.until(lambda: course.peer.seen_in(foreign.id))
        assert told.content == NOT_ALLOWED.format(server=foreign.guild_id)
        await heard_everything(course)
        assert {q.key.tenant for q in course.desk.questions} == {tenant(course.guild)}


async def test_the_first_server_that_is_joined_is_trusted_where_there_was_none() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        home = peer.world.guilds.pop(course.guild.id)
        async with running(course):
            assert not course.tenants.trust
            peer.world.guilds[home.id] = home
            await peer.routes.publish("GUILD_CREATE", home.as_json(peer.world.bot))
            await peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
            await course.answered()
            foreign = await joins(course)
        assert course.tenants.trust[Platform.DISCORD, tenant(home)] is Trust.ALLOWED
        second = tenant(guild_of(course, foreign))
        assert course.tenants.trust[Platform.DISCORD, second] is Trust.WAITING


async def test_a_server_that_joins_while_the_bot_is_away_waits_too() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course):
            pass
        guild = peer.world.guild("Foreign")
        guild.system_channel = foreign = peer.world.text_channel(guild, "lobby")
        peer.gateway.sessions.clear()  # a new session, as after a longer break
        async with running(course):
            [told] = await course.until(lambda: peer.seen_in(foreign.id))
            assert str(guild.id) in told.content
            await heard_everything(course)
        assert {q.key.tenant for q in course.desk.questions} == {tenant(course.guild)}


async def test_a_new_server_is_told_once_in_its_system_channel() -> None:
    async with on_a_course() as course:
        foreign = await joins(course, system=True)
        await course.until(lambda: course.peer.seen_in(foreign.id))
        for _ in range(3):
            await course.peer.say(foreign, course.bob, QUESTION, mentions_bot=True)
        await course.peer.routes.publish(
            "GUILD_CREATE", guild_of(course, foreign).as_json(course.peer.world.bot)
        )
        await heard_everything(course)
        assert len(course.peer.seen_in(foreign.id)) == 1


async def test_where_the_refusal_cannot_be_posted_the_next_channel_that_asks_is_told() -> None:
    async with on_a_course() as course:
        foreign = await joins(course)
        foreign.denied.add("SEND_MESSAGES")
        await course.peer.say(foreign, course.bob, QUESTION, mentions_bot=True)
        await heard_everything(course)
        course.peer.forgive()
        foreign.denied.clear()
        await course.peer.say(foreign, course.bob, QUESTION, mentions_bot=True)
        await course.until(lambda: course.peer.seen_in(foreign.id))


Way = Callable[[Course, Channel], Awaitable[Any]]


async def mentions(course: Course, channel: Channel) -> Note:
    return await course.peer.say(channel, course.bob, QUESTION, mentions_bot=True)


async def talks(course: Course, channel: Channel) -> Note:
    """The channel has opted in to be answered without a mention."""
    return await course.peer.say(channel, course.bob, QUESTION)


async def edits(course: Course, channel: Channel) -> None:
    note = await course.peer.say(channel, course.bob, QUESTION, mentions_bot=True)
    await course.peer.edit(note, f"{QUESTION} And a week?")


async def asks(course: Course, channel: Channel) -> Any:
    return await course.peer.interactions.slash(channel, course.bob, "ask", question=QUESTION)


async def asks_in_private(course: Course, channel: Channel) -> Any:
    return await course.peer.interactions.slash(
        channel, course.bob, "ask", question=QUESTION, private=True
    )


async def looks_up(course: Course, channel: Channel) -> Any:
    return await course.peer.interactions.slash(channel, course.bob, "lookup", query="limits")


async def points(course: Course, channel: Channel) -> Any:
    note = await course.peer.say(channel, course.bob, QUESTION)
    return await course.peer.interactions.menu(note, course.bob, "Answer this from the docs")


def manages(name: str, **options: Any) -> Way:
    async def use(course: Course, channel: Channel) -> Any:
        course.peer.interactions.permissions[course.bob.id] = MANAGE_GUILD
        return await course.peer.interactions.slash(
            channel, course.bob, f"footnote {name}", **options
        )

    use.__name__ = f"footnote_{name.replace('-', '_')}"
    return use


MESSAGES = (mentions, talks, edits)
COMMANDS = (
    asks,
    asks_in_private,
    looks_up,
    points,
    manages("help"),
    manages("books", book="course"),
    manages("settings", auto_answer=True),
    manages("doctor"),
    manages("jobs"),
    manages("gaps"),
    manages("mute"),
    manages("profile", hardware_tier=2),
    manages("forget-me", sure=True),
)


@asynccontextmanager
async def on_two_servers(trust: Trust) -> AsyncIterator[tuple[Course, Channel, SmallHouse]]:
    """A course that is served, and a second server with this decision."""
    house, shelf, policies = SmallHouse(), Shelf(modules=["robots"]), PolicyTable()
    parts = {"steward": house, "lookup": shelf.lookup, "policies": policies}
    async with on_a_course(**parts) as course:
        foreign = await joins(course)
        policies.opt_in(foreign.id)
        if trust is not Trust.WAITING:
            await decides(course, guild_of(course, foreign), trust)
        yield course, foreign, house


@pytest.mark.parametrize("trust", [Trust.WAITING, Trust.DENIED])
@pytest.mark.parametrize("way", MESSAGES)
async def test_no_message_is_taken_on_a_server_that_is_not_allowed(way: Way, trust: Trust) -> None:
    async with on_two_servers(trust) as (course, foreign, _):
        await way(course, foreign)
        await heard_everything(course)
        assert {q.key.tenant for q in course.desk.questions} == {tenant(course.guild)}
        assert [q.question.message for q in course.desk.questions] == [QUESTION]
        assert len(course.peer.seen_in(foreign.id)) <= 1


@pytest.mark.parametrize("trust", [Trust.WAITING, Trust.DENIED])
@pytest.mark.parametrize("way", COMMANDS, ids=lambda way: way.__name__)
async def test_every_command_is_refused_in_words_where_nobody_is_served(
    way: Way, trust: Trust
) -> None:
    async with on_two_servers(trust) as (course, foreign, house):
        used = await way(course, foreign)
        await course.until(lambda: used.shown)
        assert used.texts == [NOT_ALLOWED.format(server=foreign.guild_id)]
        assert used.private
        assert not course.desk.questions
        assert not house.kept
        assert not house.forgotten


@pytest.mark.parametrize(
    ("name", "option"), [("ask", "module"), ("lookup", "query"), ("footnote books", "book")]
)
async def test_nothing_is_proposed_while_somebody_types_where_nobody_is_served(
    name: str, option: str
) -> None:
    async with on_two_servers(Trust.WAITING) as (course, foreign, _):
        for person in (course.alice, course.bob):
            course.peer.interactions.permissions[person.id] = MANAGE_GUILD
        typed = await course.peer.interactions.complete(foreign, course.bob, name, option, "o")
        await course.until(lambda: typed.choices is not None)
        assert typed.choices == []
        if name != "lookup":  # what is proposed where somebody is served
            home = await course.peer.interactions.complete(
                course.channel, course.alice, name, option, "o"
            )
            await course.until(lambda: home.choices)


async def test_a_denied_server_is_silent_at_once_and_an_allowed_one_answers_at_once() -> None:
    async with on_a_course() as course:
        asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.answered()
        thread = course.peer.world.channels[asked.id]
        await decides(course, course.guild, Trust.DENIED)
        await course.peer.say(thread, course.alice, "And a week?")
        later = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        [refusal] = await course.until(lambda: course.peer.seen_in(course.channel.id))
        assert "allow it first" in refusal.content
        await decides(course, course.guild, Trust.ALLOWED)
        await heard_everything(course)
        assert not course.peer.seen_in(later.id)
        assert len(course.peer.seen_in(thread.id)) == 1


@pytest.mark.parametrize("label", ["Helpful", "Not helpful", "Show evidence", "Ask a person"])
async def test_buttons_of_an_earlier_answer_are_refused_where_the_server_was_denied(
    label: str,
) -> None:
    async with rated(staff="4711") as scene:
        course = scene.course
        await scene.ask()
        await decides(course, course.guild, Trust.DENIED)
        pressed = await scene.press(label)
        assert await scene.told(pressed) == NOT_ALLOWED.format(server=course.guild.id)
        assert scene.rating(course.alice) is None


async def test_a_form_and_the_delete_button_are_refused_where_the_server_was_denied() -> None:
    async with rated() as scene:
        course = scene.course
        await scene.ask()
        opened = await scene.press("Not helpful")
        assert opened.callback == FORM
        await decides(course, course.guild, Trust.DENIED)
        sent = await course.peer.interactions.submit(opened, "Too short.")
        await course.until(lambda: sent.shown)
        deleted = await scene.press("Delete")
        for used in (sent, deleted):
            assert await scene.told(used) == NOT_ALLOWED.format(server=course.guild.id)
        assert scene.rating(course.alice) == (False, "")
        assert not course.desk.withdrawn


async def test_what_was_asked_before_a_server_was_denied_is_not_answered_after_it() -> None:
    desk = DiscordDesk()
    async with on_a_course(desk) as course:
        desk.thinks.clear()
        asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.until(lambda: desk.questions)
        await decides(course, course.guild, Trust.DENIED)
        sent = len(course.peer.bodies(SEND))
        desk.thinks.set()
        await course.until(lambda: desk.refusals)
        assert not [n for n in course.peer.seen_in(asked.id) if "[1]" in n.content]
        assert len(course.peer.bodies(SEND)) == sent


async def test_private_messages_are_for_members_of_a_server_that_is_allowed() -> None:
    async with on_a_course() as course:
        stranger = course.peer.world.person("mallory")
        course.guild.strangers.append(stranger)
        foreign = await joins(course)
        assert foreign.guild_id is not None
        private = course.peer.world.direct(stranger)
        await course.peer.say(private, stranger, QUESTION)
        await course.until(lambda: course.peer.seen_in(private.id))
        await course.peer.say(private, stranger, QUESTION)
        own = course.peer.world.direct(course.alice)
        await course.peer.say(own, course.alice, QUESTION)
        await course.answered()
        assert [n.content for n in course.peer.seen_in(private.id)] == [NO_SHARED_SERVER]
        assert {q.asker_id for q in course.desk.questions} == {str(course.alice.id)}
        used = await course.peer.interactions.slash(private, stranger, "ask", question=QUESTION)
        await course.until(lambda: used.shown)
        assert used.texts == [NO_SHARED_SERVER]
        looked = [call.path for call in course.peer.calls if call.route == MEMBER]
        assert len([path for path in looked if path.endswith(str(stranger.id))]) == 1


async def test_a_member_of_a_server_that_was_denied_since_is_a_stranger_in_private() -> None:
    async with on_a_course() as course:
        await heard_everything(course)
        await decides(course, course.guild, Trust.DENIED)
        own = course.peer.world.direct(course.alice)
        await course.peer.say(own, course.alice, QUESTION)
        await course.until(lambda: course.peer.seen_in(own.id))
        assert [n.content for n in course.peer.seen_in(own.id)] == [NO_SHARED_SERVER]
        assert len(course.desk.questions) == 1


async def test_what_was_missed_is_not_even_read_where_nobody_is_served() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        async with running(course):
            foreign = await joins(course)
            await heard_everything(course)
        for channel in (foreign, course.channel):
            await peer.say(channel, course.bob, QUESTION, mentions_bot=True)
        peer.gateway.sessions.clear()
        peer.calls.clear()
        async with running(course):
            await course.answered(2)
        read = {call.path.split("/")[2] for call in peer.calls if call.route == HISTORY}
        assert str(course.channel.id) in read
        assert str(foreign.id) not in read
        assert {q.key.tenant for q in course.desk.questions} == {tenant(course.guild)}


async def test_servers_that_the_settings_name_are_served_and_no_others() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        foreign = peer.world.text_channel(peer.world.guild("Foreign"), "lobby")
        course.parts["admissions"] = discord_admissions(course.tenants, str(course.guild.id))
        async with running(course):
            await peer.say(foreign, course.bob, QUESTION, mentions_bot=True)
            await heard_everything(course)
            await course.until(lambda: peer.seen_in(foreign.id))
        assert {q.key.tenant for q in course.desk.questions} == {tenant(course.guild)}
        # Where the settings name nobody later, what they had decided goes on.
        trust = {known.tenant: known.trust for known in await course.tenants.all()}
        assert trust[tenant(course.guild)] is Trust.ALLOWED
        assert trust[TenantId(str(foreign.guild_id))] is Trust.WAITING


async def test_who_is_served_is_known_while_the_database_is_away() -> None:
    async with on_a_course() as course:
        course.tenants.is_away = True
        await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.answered()
        foreign = course.peer.world.text_channel(course.peer.world.guild("Foreign"), "lobby")
        await course.peer.routes.publish(
            "GUILD_CREATE", guild_of(course, foreign).as_json(course.peer.world.bot)
        )
        await course.peer.say(foreign, course.bob, QUESTION, mentions_bot=True)
        await heard_everything(course)
        assert {q.key.tenant for q in course.desk.questions} == {tenant(course.guild)}


async def test_the_operator_is_told_who_waits() -> None:
    async with on_a_course() as course:
        foreign = await joins(course)
        assert course.platform is not None
        found = {each.name: each for each in await course.platform.findings()}
        waiting = found["discord admissions"]
        assert f"Foreign ({foreign.guild_id})" in waiting.detail
        assert f"footnote servers allow {foreign.guild_id}" in waiting.advice
        own = await course.platform.findings(tenant=tenant(course.guild))
        assert not [each for each in own if "Foreign" in each.detail]
