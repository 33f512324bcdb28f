"""Twenty people in one thread at once: each question is answered, once, in the order asked."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from adapters.discord.assembly import DiscordParts
from adapters.discord.client import open_discord
from adapters.platform import ChatPlatform
from adapters.slack.app import open_slack
from bot.bounds import GRACE_SECONDS
from rag_core.desk.limits import Bounds
from rag_core.desk.outgoing import Outlet
from rag_core.storage.engines.database import Database
from rag_core.storage.ledger.ledger import QuestionLedger
from tests.fakes.markers import MemoryMarkers
from tests.fakes.offices import QUICK, Office
from tests.fakes.slack_house import config_for as slack_config
from tests.fakes.slack_house import owned, parts_for
from tests.flow.discord_flow import Markers
from tests.flow.discord_flow import config_for as discord_config
from tests.peers.discord import open_discord_peer
from tests.peers.slack import ANN, GENERAL, MENTION, SlackPeer

PEOPLE = 20
ROUNDS = 20 if os.environ.get("FOOTNOTE_TESTS") == "full" else 1
WITHIN_SECONDS = 30.0
FORMS = (
    "How many may I take on day {}?",
    "tell me about day {}",
    "what happens on day {}",
    "I need help with day {}",
    "It doesn't work on day {}",
)
TALK = ("same here", "thanks!", "good morning everyone", "ok")
BOTH = pytest.mark.parametrize("named", [True, False], ids=["with mention", "without mention"])


def questions_of(round_number: int) -> list[str]:
    return [FORMS[n % len(FORMS)].format(f"{round_number}.{n:02}") for n in range(PEOPLE)]


@asynccontextmanager
async def answering(office: Office, platform: ChatPlatform) -> AsyncIterator[None]:
    """The real desk and worker behind a platform that listens."""
    outlet = Outlet(renderer=platform.renderer, replies=platform.replies)
    office.outlets = {platform.platform: outlet}
    async with owned(platform.run()), office.at_work(QUICK):
        await until(lambda: platform.is_ready)
        yield


async def until(condition: object) -> None:
    assert callable(condition)
    async with asyncio.timeout(WITHIN_SECONDS):
        while not condition():  # noqa: ASYNC110 - the peer is outside, it sets no event
            await asyncio.sleep(0.01)


def an_office(database: Database) -> Office:
    return Office(database, QuestionLedger(database), bounds=Bounds(grace_seconds=GRACE_SECONDS))


@BOTH
async def test_each_of_twenty_people_in_a_slack_thread_is_answered(
    database: Database, named: bool
) -> None:
    office = an_office(database)
    async with AsyncExitStack() as stack:
        peer = await stack.enter_async_context(SlackPeer())
        parts = parts_for(office.desk, answers=office.ledger, markers=MemoryMarkers())  # type: ignore[arg-type]  # the real desk
        config = slack_config(peer, write_seconds=1.0)
        platform = await stack.enter_async_context(open_slack(config, parts))
        await stack.enter_async_context(answering(office, platform))
        people = [f"U0CROWD{n}" for n in range(PEOPLE)]
        peer.world.users |= {person: person.lower() for person in people}
        peer.world.channels[GENERAL].members |= set(people)
        for round_number in range(ROUNDS):
            head = peer.say(GENERAL, ANN, f"{MENTION} How does round {round_number} begin?")
            await until(lambda head=head: len(peer.world.replies(GENERAL, head)) == 1)
            asked = questions_of(round_number)
            for number, (person, text) in enumerate(zip(people, asked, strict=True)):
                peer.say(GENERAL, person, f"{MENTION} {text}" if named else text, thread_ts=head)
                if number % 5 == 4:
                    peer.say(GENERAL, people[0], TALK[number // 5], thread_ts=head)
            await peer.heard()
            await office.until_done()
            answers = [reply.seen for reply in peer.world.replies(GENERAL, head)][1:]
            assert len(answers) == PEOPLE
            assert all(f"Re: {t}" in a for t, a in zip(asked, answers, strict=True)), "in order"


@BOTH
async def test_each_of_twenty_people_in_a_discord_thread_is_answered(
    database: Database, named: bool
) -> None:
    office = an_office(database)
    async with AsyncExitStack() as stack:
        peer = await stack.enter_async_context(open_discord_peer())
        guild = peer.world.guild()
        channel = peer.world.text_channel(guild)
        people = [peer.world.person(f"crowd{n}") for n in range(PEOPLE)]
        parts = DiscordParts(desk=office.desk, markers=Markers())
        platform = await stack.enter_async_context(open_discord(discord_config(peer), parts))
        await stack.enter_async_context(answering(office, platform))
        for round_number in range(ROUNDS):
            begin = f"How does round {round_number} begin?"
            head = await peer.say(channel, people[0], begin, mentions_bot=True)
            await until(lambda head=head: len(peer.seen_in(head.id)) == 1)
            thread, asked = peer.world.channels[head.id], questions_of(round_number)
            saying = []
            for number, (person, text) in enumerate(zip(people, asked, strict=True)):
                saying.append(peer.say(thread, person, text, mentions_bot=named))
                if number % 5 == 4:
                    saying.append(peer.say(thread, people[0], TALK[number // 5]))
            await asyncio.gather(*saying)
            # A last question by name: when it is answered, all before it was heard.
            last = await peer.say(thread, people[0], "Is that all?", mentions_bot=True)
            await until(
                lambda thread=thread: (
                    "Is that all" in "".join(note.content for note in peer.seen_in(thread.id))
                )
            )
            await office.until_done()
            assert last.content
            answers = [note.content for note in peer.seen_in(thread.id)][1:-1]
            assert len(answers) == PEOPLE
            assert all(f"Re: {t}" in a for t, a in zip(asked, answers, strict=True)), "in order"
