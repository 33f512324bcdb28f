"""What goes wrong around the program while a crowd asks, and whom it may have touched."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from time import monotonic

from tests.faults.answering_model import CutShort
from tests.faults.deliveries import TROUBLES, TROUBLES_IN_DISCORD
from tests.faults.proxy import FaultProxy, Weather
from tests.faults.services import STORMS, change
from tests.faults.yard import Yard
from tests.peers.discord import SEND
from tests.peers.discord_limits import Trouble
from tests.peers.openai import Reset, Status
from tests.peers.slack import Fault

MODEL_TROUBLES = (
    Status(429, retry_after="1"),
    Status(500),
    Status(503),
    Reset(),
    CutShort(reset=True),
    CutShort(reset=False),
)
SLACK_METHODS = ("chat.postMessage", "chat.update", "chat.startStream", "chat.appendStream")
EVERY_SECONDS = 0.5
HANG_EVERY = 600
"""A call that hangs is one of so many troubles."""
STORM_SECONDS, HUSH_SECONDS = 4.0, 2.0
BEFORE, AFTER = 5.0, 8.0
"""Whoever asks within so many seconds of an outage may feel it."""


@dataclass(frozen=True)
class Outage:
    """A time in which something that everybody needs is away."""

    began: float
    ended: float

    def touches(self, at: float) -> bool:
        return self.began - BEFORE < at < self.ended + AFTER


@dataclass
class Havoc:
    """Makes the troubles, by the yard's own chance."""

    place: Yard
    index: FaultProxy | None
    """The way to the index; None: it is in the program's own folder."""
    outages: list[Outage] = field(default_factory=list)
    made: int = 0
    is_heard: bool = True
    """Whether the program is there to hear what is told once."""
    _storms: int = 0

    async def last(self) -> None:
        """Single calls that go wrong: posts, edits and requests to the model."""
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            self.trouble_somebody()

    def trouble_somebody(self) -> None:
        """One at a time: what piles up while nothing is called would be an outage of its own."""
        self.made += 1
        match self.made % 4:
            case 0 | 2:
                self._trouble_model()
            case 1:
                self._trouble_slack()
            case _:
                self._trouble_discord()

    def _trouble_model(self) -> None:
        # After an outage one request alone tries whether the model is back.
        if not self.place.model.troubles and self.is_calm_at(monotonic()):
            self.place.model.troubles.append(self.place.random.choice(MODEL_TROUBLES))

    def _trouble_slack(self) -> None:
        chance = self.place.random
        fault = Fault.HANG if self._hangs else chance.choice(TROUBLES)
        # A limit on any other method makes everybody in Slack wait, not one thread.
        limited = fault is Fault.RATE_LIMITED
        method = "chat.postMessage" if limited else chance.choice(SLACK_METHODS)
        if not self.place.slack.will_fail(method):
            self.place.slack.fails(method, fault)

    def _trouble_discord(self) -> None:
        assert self.place.discord is not None
        troubles = self.place.discord.troubles
        if not troubles.are_waiting(SEND):
            chosen = self.place.random.choice(TROUBLES_IN_DISCORD)
            troubles.on(SEND, Trouble(hang=True) if self._hangs else chosen)

    @property
    def _hangs(self) -> bool:
        return self.made % HANG_EVERY < 2

    async def storm(self, *, seconds: float = STORM_SECONDS) -> None:
        """For a moment the index is away, cut, half open or late; or else the model is away."""
        with self.outage():
            if self.index is None:
                self.place.model.down = True
                await asyncio.sleep(seconds)
                self.place.model.down = False
                self.place.model.troubles.clear()
            else:
                names = sorted(STORMS)
                change(self.index, STORMS[names[self._storms % len(names)]])
                self._storms += 1
                await asyncio.sleep(seconds)
                change(self.index, Weather())

    @contextlib.asynccontextmanager
    async def restart(self, *, hush: float = HUSH_SECONDS) -> AsyncIterator[None]:
        """The program goes and comes back; what was told before has arrived by then."""
        self.is_heard = False
        await asyncio.sleep(hush)
        with self.outage():
            yield
        self.is_heard = True

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        """As long as this lasts, and a little longer, nobody's times count."""
        began = monotonic()
        try:
            yield
        finally:
            self.outages.append(Outage(began, monotonic()))

    def is_calm_at(self, moment: float) -> bool:
        return not any(outage.touches(moment) for outage in self.outages)

    def troubled_threads(self) -> set[str]:
        """The threads in which a call of the program went wrong."""
        assert self.place.discord is not None
        heads = {
            shown.ts: shown.thread_ts or shown.ts
            for shown in self.place.slack.world.everything_of_the_bot()
        }
        in_slack = (
            str(asked.get("thread_ts") or heads.get(str(asked.get("ts")), ""))
            for asked in self.place.slack.troubled
        )
        in_discord = (path.split("/")[2] for path in self.place.discord.troubled)
        return {*in_slack, *in_discord}
