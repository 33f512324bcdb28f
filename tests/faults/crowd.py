"""Everybody at once: people in Slack, in Discord and at the web door, who ask, ask further, change
their questions, take them back and press buttons."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from tests.faults.loads import A_SECOND
from tests.faults.record import Sent
from tests.faults.visitors import FURTHER, Visitors
from tests.faults.yard import QUESTION, Yard
from tests.peers.discord_rules import nested
from tests.peers.discord_world import Channel, Note, Person
from tests.peers.slack import ANN, BEN, MENTION
from tests.peers.slack_house import controls_in
from tests.peers.slack_socket import Envelope

SLACK_CHANNELS, DISCORD_CHANNELS = 200, 40
DOORS = ("slack", "web", "slack", "discord", "slack", "web", "slack", "discord", "slack", "web")
"""Whose turn it is: half of the questions come from Slack."""
AFTERTHOUGHTS_SECONDS = 1.0
SETTLED_SECONDS = 8.0
"""After so long a question should have its answer."""
HELPFUL = "Helpful"


@dataclass
class Asked:
    """A question in a chat, when it was asked, and what its asker did afterwards."""

    sent: Sent
    at: float
    further: bool = False
    changed_to: str = ""
    """The words that it was changed to."""
    withdrawn: bool = False
    pressed: bool = False

    @property
    def is_as_it_was(self) -> bool:
        return not (self.changed_to or self.withdrawn)

    @property
    def is_alone(self) -> bool:
        """Nothing goes on in its thread, and nobody has touched it."""
        return self.is_as_it_was and not self.further and not self.pressed


@dataclass
class Crowd:
    """They keep coming, whatever happens to the program."""

    place: Yard
    visitors: Visitors
    is_heard: Callable[[], bool]
    """Whether the program is there: Discord repeats no change, and nobody repeats a press."""
    asked: list[Asked] = field(default_factory=list)
    presses: list[Envelope] = field(default_factory=list)
    continued: set[str] = field(default_factory=set)
    """The questions in whose threads somebody has asked further."""
    _servers: list[Channel] = field(default_factory=list)
    _people: list[Person] = field(default_factory=list)
    _places: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        assert self.place.discord is not None
        world = self.place.discord.world
        guild = world.guild()
        self._servers = [world.text_channel(guild) for _ in range(DISCORD_CHANNELS)]
        self._people = [world.person(f"person-{number}") for number in range(DISCORD_CHANNELS)]
        self._places = self.place.channels(SLACK_CHANNELS)

    async def come(self, seconds: float) -> None:
        """Twenty questions a second, and beside them now and then an afterthought."""
        afterthoughts = asyncio.create_task(self.think_again())
        began = monotonic()
        try:
            for number in range(round(A_SECOND * seconds)):
                await asyncio.sleep(max(0.0, began + number / A_SECOND - monotonic()))
                await self._ask(number)
        finally:
            afterthoughts.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await afterthoughts

    async def _ask(self, number: int) -> None:
        match DOORS[number % len(DOORS)]:
            case "slack":
                self._ask_in_slack(number)
            case "discord":
                await self._ask_in_discord(number)
            case _:
                self.visitors.ask()

    def _ask_in_slack(self, number: int) -> None:
        before = self.earlier("slack")
        user = (ANN, BEN)[number % 2]
        if before is not None:
            _, channel, head = before.sent.place
            sent = self.place.ask(channel, head=head, user=user)
        else:
            sent = self.place.ask(self._places[number % len(self._places)], user=user)
        self.asked.append(Asked(sent, monotonic(), further=before is not None))

    async def _ask_in_discord(self, number: int) -> None:
        assert self.place.discord is not None
        before, at = self.earlier("discord"), number // 5 % DISCORD_CHANNELS
        thread = (
            self.place.discord.world.channels.get(int(before.sent.place[2])) if before else None
        )
        asked_at = monotonic()
        sent = await self.place.ask_in_discord(
            thread or self._servers[at], self._people[at], new=thread is None
        )
        self.asked.append(Asked(sent, asked_at, further=thread is not None))

    def earlier(self, platform: str) -> Asked | None:
        """Sometimes a question of a little while ago, in whose thread somebody asks further."""
        if self.place.random.random() >= FURTHER:
            return None
        found = self.chosen(platform)
        if found is None or not self._is_answered(found):
            return None
        self.continued.add(found.sent.message_id)
        return found

    def _is_answered(self, asked: Asked) -> bool:
        """Whether there is something to ask further about: Slack may repeat what it could not
        deliver later than what was asked afterwards."""
        platform, channel, thread = asked.sent.place
        if platform == "slack":
            shown = self.place.slack.world.replies(channel, thread)
            return any(message.metadata for message in shown)
        assert self.place.discord is not None
        return any(map(is_rated, self.place.discord.seen_in(int(thread))))

    def chosen(self, platform: str) -> Asked | None:
        """A question of some seconds ago that nobody has touched or gone on from."""
        young, now = self.asked[-400:], monotonic()
        fit = [
            asked
            for asked in young
            if asked.is_alone
            and asked.sent.place[0] == platform
            and asked.sent.message_id not in self.continued
            and now - asked.at > SETTLED_SECONDS
        ]
        return self.place.random.choice(fit) if fit else None

    async def think_again(self, *, every_seconds: float = AFTERTHOUGHTS_SECONDS) -> None:
        """Until cancelled: somebody changes, takes back or rates what was asked a while ago."""
        while True:
            await asyncio.sleep(every_seconds)
            platform = self.place.random.choice(("slack", "discord"))
            asked = self.chosen(platform)
            if asked is None or not self.is_heard():
                continue
            act = self.place.random.choice((self.change, self.take_back, self.press))
            await act(asked)

    async def change(self, asked: Asked) -> None:
        """Other words, with the same canary."""
        asked.changed_to = f"And in winter, changed-{self.place.random.getrandbits(32):08x}?"
        text = f"{QUESTION} {asked.changed_to} {asked.sent.canary}"
        platform, channel, _ = asked.sent.place
        if platform == "slack":
            self.place.slack.edit(channel, asked.sent.message_id, f"{MENTION} {text}")
        else:
            assert self.place.discord is not None
            await self.place.discord.edit(self._note(asked), text)

    async def take_back(self, asked: Asked) -> None:
        asked.withdrawn = True
        self.place.take_back(asked.sent)
        platform, channel, _ = asked.sent.place
        if platform == "slack":
            self.place.slack.delete(channel, asked.sent.message_id)
        else:
            assert self.place.discord is not None
            await self.place.discord.delete(self._note(asked))

    async def press(self, asked: Asked) -> None:
        platform, channel, thread = asked.sent.place
        if platform == "slack":
            shown = self.place.slack.world.replies(channel, thread)
            if shown and HELPFUL in dict(controls_in(shown[-1].blocks)):
                asked.pressed = True
                self.presses.append(self.place.slack.people.press(ANN, shown[-1], HELPFUL))
            return
        assert self.place.discord is not None
        notes = [note for note in self.place.discord.seen_in(int(thread)) if is_rated(note)]
        if notes:
            asked.pressed = True
            await self.place.discord.interactions.press(notes[-1], self._people[0], HELPFUL)

    def _note(self, asked: Asked) -> Note:
        assert self.place.discord is not None
        note = self.place.discord.world.channels[int(asked.sent.place[1])].find(
            int(asked.sent.message_id)
        )
        assert note is not None
        return note


def is_rated(note: Note) -> bool:
    return any(item.get("label") == HELPFUL for item in nested(note.components))
