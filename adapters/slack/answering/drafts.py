"""Which message is becoming the answer to a question: known beyond a restart."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.desk.incoming import MessageIdentity
from rag_core.ports import MarkerStore

OPENING = "opening"


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
        await self._markers.set(_name(identity), f"draft {ts}")

    async def answered(self, identity: MessageIdentity, ts: str) -> None:
        await self._markers.set(_name(identity), f"answer {ts}")

    async def never_opened(self, identity: MessageIdentity) -> None:
        await self._markers.set(_name(identity), "")


def _name(identity: MessageIdentity) -> str:
    return f"slack:draft:{identity.tenant}:{identity.channel_id}:{identity.message_id}"
