"""A question's whole way through the real program: in by a platform, out in its thread, once."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.discord.answering.progress import WORDS
from tests.flow.running_house import RunningHouse, footnote, running_house
from tests.peers.discord import TOKEN, DiscordPeer, open_discord_peer
from tests.peers.discord_world import Channel, Guild, Person
from tests.peers.slack import ANN, APP_TOKEN, BOT_TOKEN, GENERAL, MENTION, SlackPeer
from tests.peers.slack_world import BEN, TEAM

SUMMER = "When does the reading room open in summer?"
WINTER = "And in winter?"
PAGES = {
    "reading-room.md": (
        "---\ntitle: The reading room\nurl: https://library.example/reading-room\n---\n"
        "# The reading room\n\n## Summer\n\n"
        "In summer the reading room opens at 9:30 and closes at 20:00.\n\n"
        "## Winter\n\nIn winter the reading room opens at 11:15 and closes at 17:00.\n"
    ),
    "loans.md": (
        "---\ntitle: Loans\nurl: https://library.example/loans\n---\n"
        "# Loans\n\nA book may be kept for four weeks. Films may be kept for five days.\n"
    ),
}


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the program has read two pages."""
    folder = tmp_path_factory.mktemp("library")
    pages = folder / "pages"
    pages.mkdir()
    for name, text in PAGES.items():
        (pages / name).write_text(text, encoding="utf-8")
    printed, _ = asyncio.run(
        footnote("ingest", str(pages), "--book", "library", "--json", folder=folder)
    )
    job = json.loads(printed)
    assert (job["status"], job["files_processed"]) == ("completed", 2)
    return folder


@pytest.fixture
def library(ingested: Path, tmp_path: Path) -> Path:
    """A copy of that folder: nothing that another test asked is in it."""
    return shutil.copytree(ingested, tmp_path / "library")


@dataclass
class Campus:
    """A workspace and a server, in which people write to the bot."""

    slack: SlackPeer
    discord: DiscordPeer
    guild: Guild
    channel: Channel
    alice: Person

    @property
    def settings(self) -> dict[str, str]:
        return {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_BASE": self.slack.base,
            "DISCORD_BOT_TOKEN": TOKEN,
            "DISCORD_API_BASE": self.discord.api_base,
            "DISCORD_GATEWAY_URL": self.discord.gateway_url,
        }

    async def slack_replies(self, thread: str, *, at_least: int) -> list[str]:
        def seen() -> list[str]:
            return [message.seen for message in self.slack.world.replies(GENERAL, thread)]

        await self.discord.until(lambda: len(seen()) >= at_least, within=30)
        await asyncio.sleep(0.3)  # long enough for a second copy to arrive
        return seen()

    async def discord_replies(self, thread: int, *, at_least: int) -> list[str]:
        def seen() -> list[str]:
            said = [note.content for note in self.discord.seen_in(thread)]
            return [text for text in said if text not in WORDS.values()]

        await self.discord.until(lambda: len(seen()) >= at_least, within=30)
        await asyncio.sleep(0.3)
        return seen()


@pytest.fixture
async def campus() -> AsyncIterator[Campus]:
    async with SlackPeer() as slack, open_discord_peer() as discord:
        guild = discord.world.guild()
        channel = discord.world.text_channel(guild)
        yield Campus(slack, discord, guild, channel, discord.world.person("alice"))


async def test_each_door_answers_once_in_its_thread_and_remembers_it_after_a_restart(
    library: Path, campus: Campus
) -> None:
    async with running_house(library, **campus.settings) as house:
        in_slack = campus.slack.say(GENERAL, ANN, f"{MENTION} {SUMMER}")
        in_discord = await campus.discord.say(
            campus.channel, campus.alice, SUMMER, mentions_bot=True
        )
        on_page = await house.ask(message=SUMMER)
        slack = await campus.slack_replies(in_slack, at_least=1)
        discord = await campus.discord_replies(in_discord.id, at_least=1)
    check_answer(on_page, "9:30", "#summer")
    for replies in (slack, discord):
        assert len(replies) == 1
        assert "9:30" in replies[0]
        assert "https://library.example/reading-room#summer" in replies[0]

    async with running_house(library, **campus.settings) as house:
        campus.slack.say(GENERAL, ANN, WINTER, thread_ts=in_slack)
        thread = campus.discord.world.channels[in_discord.id]
        await campus.discord.say(thread, campus.alice, WINTER)
        on_page = await house.ask(message=WINTER, session_id=on_page["session_id"])
        slack = await campus.slack_replies(in_slack, at_least=2)
        discord = await campus.discord_replies(in_discord.id, at_least=2)
    check_answer(on_page, "11:15", "#winter")
    for replies in (slack, discord):
        assert len(replies) == 2
        assert "11:15" in replies[1]
        assert "https://library.example/reading-room#winter" in replies[1]


async def test_who_asks_what_was_asked_before_is_led_to_that_thread(
    library: Path, campus: Campus
) -> None:
    """Where everybody in the channel reads it; a direct message stays alone with its asker."""
    slack, discord = campus.slack, campus.discord
    bob = discord.world.person("bob")
    async with running_house(library, **campus.settings) as house:
        told = slack.say(GENERAL, ANN, f"{MENTION} {SUMMER}")
        asked = await discord.say(campus.channel, campus.alice, SUMMER, mentions_bot=True)
        await house.ask(message=SUMMER)
        first = [
            *(await campus.slack_replies(told, at_least=1)),
            *(await campus.discord_replies(asked.id, at_least=1)),
        ]
        again = slack.say(
            GENERAL, BEN, f"{MENTION} What time does the reading room open in summer?"
        )
        once_more = await discord.say(campus.channel, bob, SUMMER.upper(), mentions_bot=True)
        in_slack = await campus.slack_replies(again, at_least=1)
        in_discord = await campus.discord_replies(once_more.id, at_least=1)
        on_page = await house.ask(message=f"{SUMMER} Please!")
        shown = await house.web.get(f"/page/answers/{on_page['answer_id']}")
        led = await house.web.get(f"/page/earlier/{on_page['answer_id']}")
    assert "Asked before" not in "".join(first)
    thread = f"https://app.slack.com/client/{TEAM}/{GENERAL}/thread/{GENERAL}-{told}"
    assert thread in in_slack[0]
    assert f"https://discord.com/channels/{campus.guild.id}/{asked.id}" in in_discord[0]
    assert f"/page/earlier/{on_page['answer_id']}" in shown.text
    assert led.status_code == 303


async def test_a_command_on_discord_is_answered_checked_rated_and_deleted_after_a_restart(
    library: Path, campus: Campus
) -> None:
    discord, alice = campus.discord, campus.alice
    async with running_house(library, **campus.settings):
        await discord.until(lambda: discord.routes.commands, within=30)
        asked = await discord.interactions.slash(campus.channel, alice, "ask", question=SUMMER)
        looked = await discord.interactions.slash(
            campus.channel, alice, "lookup", query="reading room in winter"
        )
        await discord.until(lambda: "9:30" in "".join(asked.texts), within=30)
        await discord.until(lambda: "11:15" in "".join(looked.texts), within=30)
    (answer,) = asked.shown
    async with running_house(library, **campus.settings):
        await discord.until(lambda: discord.gateway.connected, within=30)
        shown = await discord.interactions.press(answer, alice, "Show evidence")
        rated = await discord.interactions.press(answer, alice, "Helpful")
        await discord.until(lambda: "> " in "".join(shown.texts), within=30)
        await discord.until(lambda: "Thank you" in "".join(rated.texts), within=30)
        await discord.interactions.press(answer, alice, "Delete")
        await discord.until(lambda: answer not in campus.channel.notes, within=30)
    assert "https://library.example/reading-room#summer" in shown.texts[0]
    assert len(discord.bodies("PUT /applications/:a/commands")) == 1


def check_answer(document: dict[str, object], words: str, anchor: str) -> None:
    assert document["outcome"] == "completed"
    assert words in str(document["answer"])
    citations = document["citations"]
    assert isinstance(citations, list)
    linked = [citation["page_url"] for citation in citations]
    assert any(url.startswith(f"https://library.example/reading-room{anchor}") for url in linked)


async def test_what_the_pages_do_not_hold_is_refused(library: Path) -> None:
    async with running_house(library) as house:
        answer = await house.ask(message="Who won the football world cup in 1990?")
    assert answer["outcome"] == "no_results"
    assert not answer["should_answer"]
    assert answer["citations"] == []


async def test_no_log_line_holds_a_secret_or_a_persons_words(library: Path, campus: Campus) -> None:
    seeded = {"OPENAI_API_KEY": "sk-seeded-key", "FOOTNOTE_MODEL": "quoting"}
    keys = {"FOOTNOTE_API_KEYS": "seeded-web-key:read", "FOOTNOTE_LOG_LEVEL": "debug"}
    async with running_house(library, **campus.settings, **seeded, **keys) as house:
        asked = campus.slack.say(GENERAL, ANN, f"{MENTION} Does Quetzalcoatl read in summer?")
        await campus.slack_replies(asked, at_least=1)
        house.web.headers["Authorization"] = "Bearer seeded-web-key"
        await house.ask(message="May Quetzalcoatl borrow films?")
        await house.web.post("/chat/run", content=b'{"message": "Quetzalcoatl')
    logged = "".join(house.said)
    assert "question accepted" in logged
    assert "answer delivered" in logged
    for secret in ("seeded", BOT_TOKEN, APP_TOKEN, TOKEN, "Quetzalcoatl", "reading room opens"):
        assert secret not in logged


async def test_a_killed_process_answers_what_it_had_accepted(library: Path, campus: Campus) -> None:
    async with running_house(library, **campus.settings) as house:
        asked = [campus.slack.say(GENERAL, ANN, f"{MENTION} {SUMMER}") for _ in range(5)]
        await campus.slack.heard()
        await house.kill()
    async with running_house(library, **campus.settings):
        replies = [await campus.slack_replies(thread, at_least=1) for thread in asked]
    assert [len(answers) for answers in replies] == [1] * len(asked)


async def test_commands_work_beside_a_running_bot_and_without_one(library: Path) -> None:
    async def asked() -> dict[str, object]:
        printed, _ = await footnote("ask", SUMMER, "--json", folder=library)
        document: dict[str, object] = json.loads(printed)
        return document

    alone = await asked()
    async with running_house(library):
        beside = await asked()
        printed, _ = await footnote("search", "reading room in winter", "--json", folder=library)
    for document in (alone, beside):
        check_answer(document, "9:30", "#summer")
    best = json.loads(printed)["results"][0]
    assert (best["page_title"], best["section_heading"]) == ("The reading room", "Winter")


async def test_a_second_bot_on_the_same_folder_ends_with_a_sentence(
    library: Path, house_of: RunningHouse
) -> None:
    _, said = await footnote(
        "run", folder=library, expect=1, settings={"FOOTNOTE_OVERLAP_SECONDS": "0.5"}
    )
    assert "data folder" in said
    assert "Traceback" not in said


@pytest.fixture
async def house_of(library: Path) -> AsyncIterator[RunningHouse]:
    async with running_house(library) as house:
        yield house
