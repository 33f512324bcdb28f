"""A refusal on Discord, a reply by staff, and what becomes of it: through the real program."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.discord.acting.keeping import KEEP_THIS
from adapters.staff_answers import NOT_KEPT_HERE, NOT_STAFF, NOT_YOURS, NOTHING_TO_KEEP
from tests.flow.running_house import footnote, running_house
from tests.peers.discord import TOKEN, DiscordPeer, open_discord_peer
from tests.peers.discord_world import Channel, Note, Person
from tests.shelf_builders import write_files

PAGE = "# The reading room\n\nIn summer the reading room opens at 9:30 and closes at 20:00.\n"
ASKED = "Where can I leave my bicycle at night?"
SAID = "Bicycles stay overnight in the blue shed behind the chapel. @everyone"
REFUSED = "do not cover"
TUTORS = 4711


@pytest.fixture
async def library(tmp_path: Path) -> Path:
    write_files(tmp_path / "pages", {"room.md": PAGE})
    await footnote("ingest", "pages", "--book", "library", folder=tmp_path)
    return tmp_path


def settings(discord: DiscordPeer, guild_id: int) -> dict[str, str]:
    return {
        "DISCORD_BOT_TOKEN": TOKEN,
        "DISCORD_API_BASE": discord.api_base,
        "DISCORD_GATEWAY_URL": discord.gateway_url,
        "DISCORD_STAFF": f"{guild_id}:{TUTORS}",
    }


async def answer(discord: DiscordPeer, channel: Channel, person: Person, text: str) -> Note:
    asked = await discord.say(channel, person, text, mentions_bot=True)

    def seen() -> list[Note]:
        """Buttons stand below a whole answer alone."""
        return [note for note in discord.seen_in(asked.id) if note.components]

    await discord.until(seen, within=30)
    return seen()[0]


async def test_a_reply_is_kept_cited_as_what_it_is_and_goes_with_its_message(
    library: Path,
) -> None:
    async with open_discord_peer() as discord:
        guild = discord.world.guild()
        guild.roles = {TUTORS: "Tutors"}
        channel = discord.world.text_channel(guild)
        alice, bob, tutor = (discord.world.person(name) for name in ("alice", "bob", "tess"))
        discord.interactions.roles[tutor.id] = [str(TUTORS)]
        direct = discord.world.direct(tutor)
        await footnote("books", "bind", "discord", str(guild.id), "library", folder=library)
        house = settings(discord, guild.id)
        async with running_house(library, **house):
            await discord.until(lambda: discord.gateway.connected, within=30)
            refusal = await answer(discord, channel, alice, ASKED)
            assert REFUSED in refusal.content
            thread = discord.world.channels[refusal.channel_id]
            aside = await discord.say(thread, bob, f"<@{alice.id}> I take mine to my room.")
            said = await discord.say(thread, tutor, SAID)
            await discord.until(lambda: direct.notes, within=30)
            (question,) = direct.notes
            assert "everybody here who reads the book “library”" in question.content
            assert discord.seen_in(thread.id) == [refusal]  # a reply is no question
            strange = await discord.interactions.menu(aside, bob, KEEP_THIS)
            await discord.until(lambda: NOT_STAFF in "".join(strange.texts), within=30)
            other = await discord.interactions.menu(aside, tutor, KEEP_THIS)
            await discord.until(lambda: NOT_YOURS in "".join(other.texts), within=30)
        async with running_house(library, **house):  # the button outlives the process
            await discord.until(lambda: discord.gateway.connected, within=30)
            first = await discord.interactions.press(question, tutor, KEEP_THIS)
            await discord.until(lambda: "Kept until" in question.content, within=30)
            assert first.callback
            found = await answer(discord, channel, bob, "Where do I leave a bicycle at night?")
            assert "blue shed" in found.content
            assert "Staff answer by tess" in found.content
            assert f"https://discord.com/channels/{guild.id}/{thread.id}/{said.id}" in found.content
            assert found.pinged == ()
            again = await discord.interactions.menu(said, tutor, KEEP_THIS)
            await discord.until(lambda: "kept already" in "".join(again.texts), within=30)
            await discord.interactions.press(question, tutor, "Withdraw")
            await discord.until(lambda: "Withdrawn" in question.content, within=30)
            gone = await answer(discord, channel, alice, ASKED)
            assert REFUSED in gone.content


async def test_who_takes_no_direct_messages_keeps_by_the_menu(library: Path) -> None:
    async with open_discord_peer() as discord:
        guild = discord.world.guild()
        guild.roles = {TUTORS: "Tutors"}
        channel = discord.world.text_channel(guild)
        tutor = discord.world.person("tess")
        discord.interactions.roles[tutor.id] = [str(TUTORS)]
        async with running_house(library, **settings(discord, guild.id)):
            await discord.until(lambda: discord.routes.commands, within=30)
            short = await discord.say(channel, tutor, "Well, why?")
            said = await discord.say(channel, tutor, SAID)
            nothing = await discord.interactions.menu(short, tutor, KEEP_THIS)
            await discord.until(lambda: NOTHING_TO_KEEP in "".join(nothing.texts), within=30)
            unbound = await discord.interactions.menu(said, tutor, KEEP_THIS)
            await discord.until(lambda: NOT_KEPT_HERE in "".join(unbound.texts), within=30)
            await footnote("books", "bind", "discord", str(guild.id), "library", folder=library)
            offered = await discord.interactions.menu(said, tutor, KEEP_THIS)
            await discord.until(lambda: "Keep your reply" in "".join(offered.texts), within=30)
            (shown,) = offered.shown
            await discord.interactions.press(shown, tutor, "Not this one")
            await discord.until(lambda: "is not kept" in shown.content, within=30)
