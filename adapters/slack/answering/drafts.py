"""Which message is becoming the answer to a question: known beyond a restart."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from rag_core.desk.incoming import MessageIdentity
from rag_core.ports import MarkerStore

OPENING = "opening"
MOST_OPEN = 1_000


@dataclass(frozen=True, slots=True)
class Draft:
    """A message with what is written so far."""

    ts: str | None
    """None: its opening was begun, and nobody knows whether it came to be."""
    is_answer: bool = False
    """Whether the whole answer stands in it, so that nothing unfinished may replace it."""


class Drafts:
    """Remembers drafts by the message that asked."""

    def __init__(self, markers: MarkerStore) -> None:
        self._markers = markers
        self._open: OrderedDict[tuple[str, str], None] = OrderedDict()
        """What this process writes in: an answer's own draft is not a lost one."""

    def is_open(self, channel: str, ts: str) -> bool:
        return (channel, ts) in self._open

    async def of(self, identity: MessageIdentity) -> Draft | None:
        state, _, ts = (await self._markers.get(_name(identity)) or "").partition(" ")
        match state:
            case "":
                return None
            case "opening":
                return Draft(None)
            case _:
                return Draft(ts, is_answer=state == "answer")

    async def opening(self, identity: MessageIdentity) -> None:
        await self._markers.set(_name(identity), OPENING)

    async def opened(self, identity: MessageIdentity, ts: str) -> None:
        self._open[identity.channel_id, ts] = None
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        await self._markers.set(_name(identity), f"draft {ts}")

    async def answered(self, identity: MessageIdentity, ts: str) -> None:
        await self._markers.set(_name(identity), f"answer {ts}")
        self._open.pop((identity.channel_id, ts), None)

    async def never_opened(self, identity: MessageIdentity) -> None:
        await self._markers.set(_name(identity), "")


def _name(identity: MessageIdentity) -> str:
    return f"slack:draft:{identity.tenant}:{identity.channel_id}:{identity.message_id}"
