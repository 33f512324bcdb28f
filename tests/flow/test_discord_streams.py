"""Answers that are written in many channels at once, at the limits that Discord really has."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, field

from rag_core.desk.progress import Progress, QuestionState
from tests.builders import a_response
from tests.fakes.discord_desk import DiscordDesk
from tests.flow.discord_flow import Course, running
from tests.peers.discord import EDIT, REAL, SEND, DiscordPeer, open_discord_peer
from tests.peers.discord_world import Note

FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
CHANNELS = 30
TOKENS, TOKEN_SECONDS = (400, 0.02) if FULL else (100, 0.02)
LONGEST_PAUSE = 0.1
QUESTION = "How many questions may I ask a day?"


@dataclass
class Writer:
    """A model that thinks for a moment and then writes token after token."""

    began: list[float] = field(default_factory=list)
    held_up: float = 0.0
    """The longest time that one token took to be passed on."""
    longest_pause: float = 0.0
    """How long the event loop was late at most."""

    async def __call__(self, progress: Progress) -> None:
        await progress.stage(QuestionState.RETRIEVING)
        await asyncio.sleep(0.5)
        await progress.stage(QuestionState.GENERATING)
        await asyncio.sleep(0.7)
        self.began.append(time.monotonic())
        for number in range(TOKENS):
            before = time.monotonic()
            await progress.text(f"token-{number} ")
            passed_on = time.monotonic()
            self.held_up = max(self.held_up, passed_on - before)
            await asyncio.sleep(TOKEN_SECONDS)
            pause = time.monotonic() - passed_on - TOKEN_SECONDS
            self.longest_pause = max(self.longest_pause, pause)


async def ask_everywhere(course: Course) -> list[Note]:
    world = course.peer.world
    channels = [world.text_channel(course.guild, f"channel-{n}") for n in range(CHANNELS)]
    for channel in channels:
        await course.peer.routes.publish("CHANNEL_CREATE", channel.as_json())
    said = [course.peer.say(each, course.alice, QUESTION, mentions_bot=True) for each in channels]
    return list(await asyncio.gather(*said))


def first_texts(peer: DiscordPeer) -> list[float]:
    """When the first words of each answer were on their way."""
    shown: dict[str, float] = {}
    for call in peer.calls:
        if call.route in {SEND, EDIT} and "token-0" in str(call.body.get("content")):
            shown.setdefault(call.path.split("/")[2], call.at)
    return sorted(shown.values())


async def test_thirty_answers_at_once_in_thirty_channels_meet_no_rate_limit() -> None:
    writer = Writer()
    whole = "The whole answer. " * 20
    async with open_discord_peer(sends=REAL, edits=REAL) as peer:
        desk = DiscordDesk(lambda _: a_response(whole))
        desk.hands, desk.writes = CHANNELS, writer
        course = Course(peer, desk)
        async with running(course, line_after_seconds=1.0, line_every_seconds=1.0):
            asked = await ask_everywhere(course)
            await peer.until(lambda: len(desk.delivered) == CHANNELS, within=120)
        assert peer.buckets.refused == 0
        # A machine that stood still sends at once what was spread over the pause.
        assert writer.longest_pause > LONGEST_PAUSE or peer.buckets.refused_in_all == 0
        for question in asked:
            (answer,) = peer.seen_in(question.id)
            assert "".join(whole.split()) in "".join(answer.content.split())
        texts = first_texts(peer)
        assert len(texts) == CHANNELS
        waits = sorted(
            text - began for text, began in zip(texts, sorted(writer.began), strict=True)
        )
        print(
            f"first text after the first token: median {waits[len(waits) // 2]:.2f} s,"
            f" longest {waits[-1]:.2f} s; a token held up {writer.held_up * 1000:.1f} ms at most;"
            f" {len(peer.bodies(EDIT))} edits"
        )
