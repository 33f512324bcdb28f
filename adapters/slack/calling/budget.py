"""How many calls of each method one workspace takes in a minute."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from time import monotonic

from adapters.slack.calling.lines import Lines

WINDOW = 61.0
"""Slack counts by the minute and by its own clock: a second more keeps us within."""
SECOND, THIRD, FOURTH = 20, 50, 100
"""Slack's tiers."""
A_MINUTE = {
    "chat.startStream": SECOND,
    "chat.stopStream": SECOND,
    "usergroups.users.list": SECOND,
    "users.conversations": SECOND,
    "chat.delete": THIRD,
    "chat.update": THIRD,
    "conversations.history": THIRD,
    "conversations.replies": THIRD,
    "reactions.add": THIRD,
    "assistant.threads.setStatus": FOURTH,
    "chat.appendStream": FOURTH,
    "chat.getPermalink": FOURTH,
    "chat.postEphemeral": FOURTH,
    "users.info": FOURTH,
    "views.open": FOURTH,
    "views.publish": FOURTH,
}


FOR_OTHERS = 10
"""Edits of a minute that no draft may count on: answers that change when they are asked anew. And
as many deletions that no notice may count on."""
LOOK_SECONDS = 1.0
DRAFT_SECONDS = 180.0
"""A draft whose answer has not come by then is not waited for any more."""
NOTICE_SECONDS = 3_600.0
"""The same for a notice that its answer takes away."""


class Budget:
    """Keeps the calls of one workspace within what Slack allows."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._made: defaultdict[str, deque[float]] = defaultdict(deque)
        self._held: dict[str, float] = {}
        self._lines = Lines()
        self._open_streams = 0
        self._drafts: dict[str, float] = {}
        self._notices: dict[str, float] = {}

    def take(self, method: str, *, leaving: int = 0) -> bool:
        """Make a call now, if there is room for it and for so many more, and nobody in line."""
        if self._lines.standing(method) or self.pause(method) > 0:
            return False
        if leaving and len(self._made[method]) + leaving >= A_MINUTE.get(method, leaving + 1):
            return False
        self._made[method].append(self._clock())
        return True

    async def turn(self, method: str, *, at_most: float = math.inf) -> None:
        """Stand in line for a call that must be made; ComesLater where its turn is further away."""
        async with self._lines.turn(method, partial(self.pause, method), at_most=at_most):
            self._made[method].append(self._clock())

    async def turn_leaving(self, method: str, leaving: int) -> None:
        """Wait until there is room for a call and for so many more, and nobody in line."""
        while not self.take(method, leaving=leaving):  # noqa: ASYNC110 - time alone makes room
            await asyncio.sleep(self.pause(method) or LOOK_SECONDS)

    def pause(self, method: str, before: int = 0) -> float:
        """How long until there is room for one more call behind so many others."""
        now, made = self._clock(), self._made[method]
        while made and made[0] <= now - WINDOW:
            made.popleft()
        free_at = now
        allowed = A_MINUTE.get(method)
        if allowed is not None and len(made) + before >= allowed:
            rounds, place = divmod(len(made) + before - allowed, allowed)
            free_at = (made[place] if place < len(made) else now) + (rounds + 1) * WINDOW
        return max(free_at, self._held.get(method, now)) - now

    def hold(self, method: str, seconds: float) -> None:
        """Slack wants none of these for so long."""
        self._held[method] = max(self._clock() + seconds, self._held.get(method, 0.0))

    def open_stream(self) -> bool:
        """Begin a stream, if there will be room for its end too, whenever that comes."""
        self.pause("chat.stopStream")
        ends = self._open_streams + len(self._made["chat.stopStream"])
        if ends >= A_MINUTE["chat.stopStream"] or not self.take("chat.startStream"):
            return False
        self._open_streams += 1
        return True

    def close_stream(self) -> None:
        self._open_streams -= 1

    def open_draft(self, message_id: str) -> bool:
        """Begin what becomes the answer to a message by an edit, if there will be room for that
        edit, whenever it comes: else a draft would hold up its own answer."""
        self.pause("chat.update")
        if len(self._made["chat.update"]) + self.promised + FOR_OTHERS >= A_MINUTE["chat.update"]:
            return False
        self._drafts[message_id] = self._clock()
        return True

    def close_draft(self, message_id: str) -> None:
        """The edit was made, or is not needed."""
        self._drafts.pop(message_id, None)

    @property
    def promised(self) -> int:
        """How many edits are still to come of drafts that have begun."""
        self._drafts = younger(self._drafts, than=self._clock() - DRAFT_SECONDS)
        return len(self._drafts)

    def open_notice(self, message_id: str) -> bool:
        """Post what the answer to a message will take away, if there will be room for that,
        whenever it comes: else all answers of a full hour would stand in line for it."""
        self.pause("chat.delete")
        self._notices = younger(self._notices, than=self._clock() - NOTICE_SECONDS)
        ends = len(self._notices) + len(self._made["chat.delete"]) + FOR_OTHERS
        if ends >= A_MINUTE["chat.delete"]:
            return False
        self._notices[message_id] = self._clock()
        return True

    def close_notice(self, message_id: str) -> None:
        """It was taken away, or never came."""
        self._notices.pop(message_id, None)


def younger(begun: dict[str, float], *, than: float) -> dict[str, float]:
    return {name: at for name, at in begun.items() if at > than}
