"""The /footnote commands on Discord: for everybody, for admins, and told to nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.discord.config import ReaderRole
from adapters.discord.hearing.standing import MutedThreads
from rag_core.books.policy import EVERYWHERE, ChannelPolicy, Place, ReaderProfile
from rag_core.conversation.key import Platform, TenantId
from tests.fakes.discord_desk import DiscordDesk
from tests.fakes.discord_shelf import Shelf
from tests.fakes.steward import SmallHouse
from tests.flow.discord_flow import Course, Markers, running
from tests.peers.discord import open_discord_peer
from tests.peers.discord_interactions import Interaction
from tests.peers.discord_world import CATEGORY, FORUM, Person

MANAGE_GUILD = 1 << 5
QUESTION = "How many questions may I ask a day?"
REGISTER = "PUT /applications/:a/commands"
REGISTER_HERE = "PUT /applications/:a/guilds/:g/commands"


@dataclass
class Managed:
    """A course with a house behind it; alice manages the server, bob does not."""

    course: Course
    house: SmallHouse

    async def use(self, name: str, person: Person | None = None, **options: Any) -> str:
        course = self.course
        used = await course.peer.interactions.slash(
            course.channel, person or course.alice, f"footnote {name}", **options
        )
        await course.until(lambda: used.shown)
        assert used.private
        assert all(note.pinged == () for note in used.shown)
        return "\n".join(used.texts)

    def place(self, channel_id: int | None = None) -> Place:
        tenant = TenantId(str(self.course.guild.id))
        channel = EVERYWHERE if channel_id is None else str(channel_id)
        return Place(platform=Platform.DISCORD, tenant=tenant, channel_id=channel)


@asynccontextmanager
async def managed(**changes: Any) -> AsyncIterator[Managed]:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        house = SmallHouse()
        course.parts["steward"] = house
        peer.interactions.permissions[course.alice.id] = MANAGE_GUILD
        async with running(course, **changes):
            yield Managed(course, house)


async def test_help_is_for_everybody_and_tells_admins_more() -> None:
    async with managed() as scene:
        assert "footnote books" in await scene.use("help")
        told = await scene.use("help", scene.course.bob)
        assert "/ask" in told
        assert "footnote books" not in told


@pytest.mark.parametrize("name", ["books", "settings", "doctor", "jobs", "gaps"])
async def test_what_is_for_admins_is_refused_to_others(name: str) -> None:
    async with managed() as scene:
        assert "for admins" in await scene.use(name, scene.course.bob)
        assert scene.house.kept == {}


async def test_a_role_can_make_an_admin() -> None:
    async with managed(admin_roles=frozenset({"777"})) as scene:
        course = scene.course
        course.guild.roles = {777: "Teachers"}
        await course.peer.routes.publish(
            "GUILD_ROLE_CREATE",
            {
                "guild_id": str(course.guild.id),
                "role": course.guild.as_json(course.peer.world.bot)["roles"][-1],
            },
        )
        course.peer.interactions.roles[course.bob.id] = ["777"]
        assert "failed" in await scene.use("jobs", course.bob)


async def test_admin_commands_belong_to_a_server() -> None:
    async with managed() as scene:
        course = scene.course
        direct = course.peer.world.direct(course.alice)
        used = await course.peer.interactions.slash(direct, course.alice, "footnote jobs")
        (text,) = await course.until(lambda: used.texts)
        assert "belongs to a server" in text


async def test_settings_of_a_channel_are_kept_and_told_in_words() -> None:
    async with managed() as scene:
        told = await scene.use(
            "settings",
            auto_answer=True,
            hint_only=True,
            tone="short and friendly",
            release_date="2026-09-01",
            hardware_tier=2,
            proficiency="B1",
        )
        assert told == (
            "In #help: every question is answered; hints instead of solutions; tone “short and"
            " friendly”; material out by 2026-09-01; readers with hardware tier 2 and level B1."
        )
        assert scene.house.kept[scene.place(scene.course.channel.id)] == ChannelPolicy(
            auto_answer=True,
            hint_only=True,
            tone="short and friendly",
            released_at=datetime(2026, 9, 1, tzinfo=UTC),
            reader=ReaderProfile(hardware_tier=2, proficiency_levels=("B1",)),
        )


async def test_one_setting_leaves_the_others_and_a_reset_takes_them_all() -> None:
    async with managed() as scene:
        await scene.use("settings", auto_answer=True, tone="short")
        await scene.use("settings", tone="long")
        place = scene.place(scene.course.channel.id)
        assert scene.house.kept[place] == ChannelPolicy(auto_answer=True, tone="long")
        assert "nothing is set" in await scene.use("settings", reset=True)
        assert scene.house.kept[place] == ChannelPolicy()


async def test_what_the_server_says_is_not_copied_into_a_channel() -> None:
    async with managed() as scene:
        await scene.use("settings", server=True, tone="short")
        told = await scene.use("settings", hint_only=True)
        assert "tone “short”" in told
        place = scene.place(scene.course.channel.id)
        assert scene.house.kept[place] == ChannelPolicy(hint_only=True)


@pytest.mark.parametrize("kind", [FORUM, CATEGORY])
async def test_a_forum_or_a_category_can_be_set_from_elsewhere(kind: int) -> None:
    async with managed() as scene:
        other = scene.course.peer.world.text_channel(scene.course.guild, "questions", kind=kind)
        told = await scene.use("settings", channel=other, auto_answer=True)
        assert told.startswith("In #questions: every question")
        assert scene.house.kept[scene.place(other.id)].auto_answer is True


async def test_a_day_that_is_none_is_named() -> None:
    async with managed() as scene:
        told = await scene.use("settings", release_date="2026-13-01")
        assert "release_date must be" in told.replace("\\", "")
        assert scene.house.kept == {}


async def test_books_are_listed_and_bound_to_a_place() -> None:
    async with managed() as scene:
        told = await scene.use("books")
        assert "- `course` The course" in told
        assert "In #help: book handbook." in await scene.use("books", book="handbook")
        assert "In the whole server: book course." in await scene.use(
            "books", book="course", server=True
        )
        assert "There is no book 'else'" in await scene.use("books", book="else")


async def test_books_are_proposed_while_one_is_typed() -> None:
    async with managed() as scene:
        course = scene.course
        typing = await course.peer.interactions.complete(
            course.channel, course.alice, "footnote books", "book", "hand"
        )
        choices = await course.until(lambda: typing.choices)
        assert [choice["value"] for choice in choices] == ["handbook"]


async def test_doctor_jobs_and_gaps_are_lists_that_ping_nobody() -> None:
    async with managed() as scene:
        doctor = await scene.use("doctor")
        assert doctor.splitlines()[0] == "❌ **#help** no threads → allow Create threads"
        assert "✅ **database** answers" in doctor
        jobs = await scene.use("jobs")
        assert "`course` failed <t:" in jobs
        assert "@everyone" not in jobs
        assert "3×" in await scene.use("gaps")


async def test_forget_me_asks_to_be_sure_and_is_for_everybody() -> None:
    async with managed() as scene:
        bob = scene.course.bob
        await scene.use("profile", bob, hardware_tier=1)
        assert "Nothing was removed" in await scene.use("forget-me", bob, sure=False)
        assert scene.house.forgotten == []
        assert "being removed" in await scene.use("forget-me", bob, sure=True)
        assert scene.house.forgotten == [(str(scene.course.guild.id), str(bob.id))]
        assert "nothing special" in await scene.use("profile", bob)


async def test_a_muted_thread_is_answered_in_only_on_a_mention() -> None:
    async with managed() as scene:
        course = scene.course
        asked = await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.answered()
        thread = course.peer.world.channels[asked.id]
        for word in ("quiet", "again"):
            used = await course.peer.interactions.slash(thread, course.bob, "footnote mute")
            (text,) = await course.until(lambda used=used: used.texts)
            assert word in text
            if word == "quiet":
                await course.peer.say(thread, course.alice, "And on Sundays?")
                await course.quiet()
                await course.peer.say(thread, course.alice, "And now?", mentions_bot=True)
                await course.answered(2)
        await course.peer.say(thread, course.alice, "And on Mondays?")
        await course.answered(3)
        assert course.desk.texts == [QUESTION, "And now?", "And on Mondays?"]
        assert "belongs into a thread" in await scene.use("mute")


async def test_a_command_that_a_resumed_session_repeats_switches_once() -> None:
    muted = MutedThreads(Markers())
    assert [await muted.switch("7", by=use) for use in ("1", "1", "2", "2", "3")] == [
        True, True, False, False, True
    ]  # fmt: skip
    assert await muted.is_muted("7")


async def test_what_a_member_says_of_themselves_goes_with_their_questions() -> None:
    async with managed() as scene:
        course = scene.course
        told = await scene.use("profile", hardware_tier=2, proficiency="A2")
        assert "hardware tier 2 and level A2" in told
        await course.peer.say(course.channel, course.alice, QUESTION, mentions_bot=True)
        await course.peer.say(course.channel, course.bob, QUESTION, mentions_bot=True)
        await course.answered(2)
        readers = [question.reader for question in course.desk.questions]
        assert readers == [ReaderProfile(hardware_tier=2, proficiency_levels=("A2",)), None]
        assert "nothing special" in await scene.use("profile", reset=True)


async def test_a_role_says_what_its_members_have() -> None:
    roles = [
        ReaderRole(role_id="11", profile=ReaderProfile(hardware_tier=1)),
        ReaderRole(role_id="12", profile=ReaderProfile(hardware_tier=3)),
        ReaderRole(role_id="13", profile=ReaderProfile(proficiency_levels=("C1",))),
    ]
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        course.guild.roles = {11: "Simulator", 12: "Robot", 13: "Advanced"}
        peer.interactions.roles[course.alice.id] = ["11", "12", "13"]
        async with running(course, reader_roles=roles):
            asked = await peer.interactions.slash(
                course.channel, course.alice, "ask", question=QUESTION
            )
            await course.answered()
        assert isinstance(asked, Interaction)
        assert course.desk.questions[0].reader == ReaderProfile(
            hardware_tier=3, proficiency_levels=("C1",)
        )


async def test_look_ups_keep_to_what_holds_in_the_channel_and_to_who_looks() -> None:
    shelf = Shelf()
    shelf.policy = ChannelPolicy(modules=("ros-2",), released_at=datetime(2026, 9, 1, tzinfo=UTC))
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk(), parts={"lookup": shelf.lookup})
        async with running(course):
            used = await peer.interactions.slash(
                course.channel, course.alice, "footnote profile", hardware_tier=1
            )
            await course.until(lambda: used.texts)
            looked = await peer.interactions.slash(
                course.channel, course.alice, "lookup", query="limits"
            )
            await course.until(lambda: looked.texts)
    filters = shelf.queries[0].filters
    assert filters.modules == ("ros-2",)
    assert filters.released_at == datetime(2026, 9, 1, tzinfo=UTC)
    assert filters.hardware_tier == 1


async def test_commands_can_be_registered_on_named_servers_and_moved() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        guild = str(course.guild.id)
        async with running(course, command_guilds=(guild,)):
            used = await peer.interactions.slash(course.channel, course.alice, "footnote help")
            await course.until(lambda: used.texts)
        assert peer.bodies(REGISTER) == []
        assert len(peer.bodies(REGISTER_HERE)) == 1
        peer.gateway.sessions.clear()
        async with running(course):
            await course.until(lambda: peer.bodies(REGISTER))
        peer.gateway.sessions.clear()
        async with running(course, command_guilds=(guild,)):
            await course.until(lambda: peer.bodies(REGISTER)[-1] == [])


async def test_without_a_house_behind_it_admin_commands_say_so() -> None:
    async with open_discord_peer() as peer:
        course = Course(peer, DiscordDesk())
        peer.interactions.permissions[course.alice.id] = MANAGE_GUILD
        async with running(course):
            used = await peer.interactions.slash(course.channel, course.alice, "footnote jobs")
            (text,) = await course.until(lambda: used.texts)
        assert "not available" in text
