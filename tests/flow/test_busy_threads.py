"""Twenty people in one thread at once: each question is answered, once, in the order asked."""

from __future__ import annotations

import asyncio
import os

import pytest

from bot.bounds import GRACE_SECONDS
from rag_core.desk.limits import Bounds
from rag_core.storage.engines.database import Database
from tests.flow.chat_office import discord_office, slack_office, until
from tests.peers.discord_world import TEXT
from tests.peers.slack import ANN, GENERAL, MENTION

PEOPLE = 20
ROUNDS = 20 if os.environ.get("FOOTNOTE_TESTS") == "full" else 1
BOUNDS = Bounds(grace_seconds=GRACE_SECONDS)
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


@BOTH
async def test_each_of_twenty_people_in_a_slack_thread_is_answered(
    database: Database, named: bool
) -> None:
    async with slack_office(database, BOUNDS) as (office, peer):
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
    async with discord_office(database, BOUNDS) as (office, peer):
        channel = next(c for c in peer.world.channels.values() if c.kind == TEXT)
        people = [peer.world.person(f"crowd{n}") for n in range(PEOPLE)]
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
            # A last question by name: when it is answered, all before it were heard.
            await peer.say(thread, people[0], "Is that all?", mentions_bot=True)
            await until(
                lambda here=thread.id: any("Is that all" in n.content for n in peer.seen_in(here))
            )
            await office.until_done()
            answers = [note.content for note in peer.seen_in(thread.id)][1:-1]
            assert len(answers) == PEOPLE
            assert all(f"Re: {t}" in a for t, a in zip(asked, answers, strict=True)), "in order"
