"""The parts of an answer on their way out, and what a platform does to send them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from rag_core.agent.answer import AgentResponse
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import Progress


class PartState(StrEnum):
    """Whether a part was sent. `posting` was begun and its end is not known."""

    PENDING = "pending"
    POSTING = "posting"
    POSTED = "posted"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingPart:
    """One message of an answer, as its platform wants it."""

    question_id: UUID
    number: int
    payload: str
    """JSON that only the platform's reply channel reads."""
    state: PartState = PartState.PENDING
    external_id: str | None = None

    @property
    def key(self) -> str:
        """The same for every attempt to send this part; 24 characters, opaque."""
        return f"{self.question_id.hex[:20]}{self.number:04d}"


class Rung(StrEnum):
    """How an answer is shown. When a platform refuses one, the next is tried."""

    RICH = "rich"
    SPLIT = "split"
    PLAIN = "plain"
    FILE = "file"


class Renderer(Protocol):
    """Turns an answer into a platform's messages. Pure: the same answer, the same parts."""

    def render(self, response: AgentResponse, question: IncomingQuestion) -> Sequence[str]: ...


class ReplyChannel(Protocol):
    """Sends the parts of an answer to where the question came from.

    `post` raises UpstreamRejected when the platform clearly refused (nothing was posted) and
    UpstreamUnavailable when nobody knows; `find` then tells whether the part is there.
    """

    def progress(self, question: IncomingQuestion) -> AbstractAsyncContextManager[Progress]: ...

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        """Send one part and return the platform's id of the message."""
        ...

    async def find(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        """The platform's id of this part if it was posted by an attempt that we lost sight of."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question that a worker has claimed: to be answered, or answered and to be delivered."""

    question_id: UUID
    question: IncomingQuestion
    attempt: int
    parts: tuple[OutgoingPart, ...] = ()
    """Empty until the answer is settled; from then on the model is not asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlet:
    """How answers leave for one platform."""

    renderer: Renderer
    replies: ReplyChannel
