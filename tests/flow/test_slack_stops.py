"""A process that is stopped while it catches up, at any moment and in any way, loses nothing."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from adapters.slack.hearing.marks import MarkKeeper, Marks, marks_from
from tests.fakes.markers import MemoryMarkers
from tests.fakes.slack_desk import desk_that_answers
from tests.fakes.slack_house import settled, slack_at_work, until
from tests.flow.test_slack_backfill import meanwhile
from tests.peers.slack import ANN, BEN, MENTION, TEAM, SlackPeer
from tests.peers.slack_world import BOT_USER, SlackChannel

CHANNELS = 55
"""More than Slack lets anybody read in a minute."""
HISTORY = "conversations.history"


class DiskOfAProcess(MemoryMarkers):
    """Markers of a process that may be killed: from then on nothing of it reaches the disk."""

    def __init__(self, disk: MemoryMarkers) -> None:
        super().__init__()
        self.values = disk.values
        self.is_killed = False

    async def set(self, name: str, value: str) -> None:
        if not self.is_killed:
            await super().set(name, value)


class Workspace:
    """Many channels, and everything that was asked in them."""

    def __init__(self, peer: SlackPeer, chance: random.Random) -> None:
        self.peer = peer
        self.chance = chance
        self.channels = [self.new_channel() for _ in range(CHANNELS)]
        self.asked: list[str] = []

    def new_channel(self) -> str:
        channel_id = f"C0ROOM{len(self.peer.world.channels):04d}"
        members = {ANN, BEN, BOT_USER}
        self.peer.world.channels[channel_id] = SlackChannel(channel_id, "channel", members)
        return channel_id

    def _question(self) -> str:
        self.asked.append(f"how many a day, number {len(self.asked)}?")
        return f"{MENTION} {self.asked[-1]}"

    def ask(self, channel: str) -> None:
        """The bot hears of it."""
        self.peer.say(channel, ANN, self._question())

    def ask_unheard(self, channel: str) -> None:
        """Nobody tells the bot."""
        meanwhile(self.peer, channel, ANN, self._question())


@pytest.mark.parametrize("seed", range(4))
async def test_stopped_at_any_moment_while_it_reads_it_answers_every_question_once(
    seed: int,
) -> None:
    chance = random.Random(seed)
    desk, disk = desk_that_answers(), MemoryMarkers()
    async with SlackPeer() as peer:
        house = Workspace(peer, chance)
        async with slack_at_work(peer, desk, markers=disk):
            for channel in house.channels:
                peer.say(channel, BEN, "lunch?")
            await settled(peer, desk)
        for channel in chance.sample(house.channels, 12):
            house.ask_unheard(channel)
        new: list[str] = []
        for stop in ("terminated", "killed", "terminated"):
            own = DiskOfAProcess(disk)
            before = len(peer.calls(HISTORY))
            async with slack_at_work(peer, desk, markers=own):
                reads = chance.randint(5, 40)
                await until(lambda: len(peer.calls(HISTORY)) >= before + reads)  # noqa: B023
                house.ask(chance.choice(house.channels))  # its place may not be read so far
                house.ask(channel := house.new_channel())  # and this one was not known before
                await settled(peer, desk)
                own.is_killed = stop == "killed"
            if stop == "terminated":  # of a place that no mark tells of nobody can know
                new.append(channel)
            for channel in (*new, *chance.sample(house.channels, 3)):
                house.ask_unheard(channel)
        for _ in range(2):  # Slack lets each of them read fifty places, and there are more
            before = len(peer.calls(HISTORY))
            async with slack_at_work(peer, desk, markers=disk):
                await until(lambda: len(peer.calls(HISTORY)) == before + 50)  # noqa: B023
                await settled(peer, desk)
        answered = Counter(question.question.message for question in desk.questions.values())
        assert answered == Counter(house.asked)
        assert len(list(peer.world.everything_of_the_bot())) == len(house.asked)


def only(disk: MemoryMarkers) -> Marks:
    """The marks that are stored."""
    [text] = disk.values.values()
    return marks_from(text)


async def test_what_is_heard_meanwhile_moves_no_mark_past_what_is_not_read() -> None:
    """Also where the process is killed: what it had stored until then is true."""
    disk = MemoryMarkers()
    old, missed, live = ("1790000001.000000", "1790000002.000000", "1790000003.000000")
    first = MarkKeeper(disk)
    await first.open_gaps(TEAM)
    first.heard({"event": {"channel": "C1", "ts": old}})
    await first.save()
    keeper = MarkKeeper(disk)
    await keeper.open_gaps(TEAM)
    keeper.heard({"event": {"channel": "C1", "ts": live}})
    keeper.heard({"event": {"channel": "C2", "ts": live}})
    await keeper.save()
    stored = only(disk)
    assert stored.channels == {"C1": old, "C2": live}
    gap = keeper.gaps(threads=False)["C1"]
    keeper.has_read("C1", missed)
    await keeper.open_gaps(TEAM)  # the connection broke once more, while it was read
    keeper.close_gap("C1", gap)
    await keeper.save()
    stored = only(disk)
    assert stored.channels["C1"] == missed, "what was missed at the second break is not read yet"
    keeper.close_gap("C1", keeper.gaps(threads=False)["C1"])
    await keeper.save()
    stored = only(disk)
    assert stored.channels["C1"] == live
