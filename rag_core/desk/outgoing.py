"""The parts of an answer on their way out, and what a platform does to send them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from rag_core.agent.answer import AgentResponse
from rag_core.desk.incoming import IncomingQuestion, Refusal
from rag_core.desk.progress import Progress


class PartState(StrEnum):
    """Whether a part was sent. `posting` was begun and its end is not known; what was posted
    may have to be edited to what its payload says now, or to be removed."""

    PENDING = "pending"
    POSTING = "posting"
    POSTED = "posted"
    EDITING = "editing"
    REMOVING = "removing"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingPart:
    """One message of an answer, as its platform wants it."""

    question_id: UUID
    number: int
    payload: str
    """JSON that only the platform's reply channel reads."""
    state: PartState = PartState.PENDING
    external_id: str | None = None
    revision: int = 0
    """The question's revision that this part was first made for."""

    @property
    def key(self) -> str:
        """The same for every attempt to send this part; 24 characters, opaque.

        A part that is made anew after it was removed has another key: platforms know sent keys."""
        return f"{self.question_id.hex[:18]}{self.revision % 256:02x}{self.number:04d}"


class Rung(StrEnum):
    """How an answer is shown. When a platform refuses one, the next is tried."""

    RICH = "rich"
    SPLIT = "split"
    PLAIN = "plain"
    FILE = "file"


class Renderer(Protocol):
    """Turns an answer into a platform's messages. Pure: the same answer, the same parts."""

    def render(
        self, response: AgentResponse, question: IncomingQuestion, *, rung: Rung = Rung.RICH
    ) -> Sequence[str]:
        """The messages as this rung of the ladder shows them, never none."""
        ...


class ReplyChannel(Protocol):
    """Sends the parts of an answer to where the question came from.

    `post` raises UpstreamRejected when the platform clearly refused (nothing was posted) and
    UpstreamUnavailable when nobody knows; `find` then tells whether the part is there.
    """

    def progress(self, question: IncomingQuestion) -> AbstractAsyncContextManager[Progress]: ...

    def open_notice(self, question: IncomingQuestion) -> bool:
        """Whether there is room for a message that the answer takes away when it comes."""
        ...

    def close_notice(self, question: IncomingQuestion) -> None:
        """That message was not posted: its room is another's."""
        ...

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        """Send one part and return the platform's id of the message."""
        ...

    async def find(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        """The platform's id of this part if it was posted by an attempt that we lost sight of."""
        ...

    async def edit(self, question: IncomingQuestion, part: OutgoingPart) -> None:
        """Let the posted message `part.external_id` show what the part's payload says now.

        Repeating it changes nothing."""
        ...

    async def remove(self, question: IncomingQuestion, external_id: str) -> None:
        """Take a posted message away; one that is gone already is fine."""
        ...

    async def clear(self, question: IncomingQuestion) -> None:
        """Take away what announced an answer that will not be given, whoever left it there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question that a worker has claimed: to be answered, or answered and to be delivered."""

    question_id: UUID
    question: IncomingQuestion
    attempt: int
    parts: tuple[OutgoingPart, ...] = ()
    """What was, is or will be shown; before the answer is settled, only what earlier answers
    to this question have left."""
    settled: bool = False
    """Whether the answer is stored; from then on the model is not asked again."""
    withdrawn: bool = False
    """Whether the asker took the question back: nothing is answered, what was posted goes."""
    source_changed: bool = False
    """Whether this is about a posted answer one of whose sources has changed since."""
    revision: int = 0
    refusal: Refusal | None = None
    """Why the question is not answered but declined; None: it is answered."""
    rung: str = Rung.RICH.value
    """The rung of the ladder that its parts were rendered for."""

    @property
    def ids(self) -> dict[str, str | int]:
        """What a log line may say of it."""
        return {
            "question_id": str(self.question_id),
            "platform": self.question.key.platform.value,
            "attempt": self.attempt,
        }


class Excuses(Protocol):
    """A door at which somebody stands and waits for the answer."""

    async def excuse(self, question: IncomingQuestion, error: Exception) -> None:
        """Tell them that this is why it does not come now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlet:
    """How answers leave for one platform."""

    renderer: Renderer
    replies: ReplyChannel
    excuses: Excuses | None = None
    """None where nobody stands and waits: an answer may come late there."""
