"""A desk with a real ledger, and platform and agent doubles that behave."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.conversation.key import Platform
from rag_core.conversation.state import Turn
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart, Rung
from rag_core.desk.progress import Progress, QuestionState
from rag_core.desk.reporter import StageReporter
from rag_core.errors import StorageFull, UpstreamRejected
from rag_core.ports import ConversationStore
from rag_core.storage.ledger.ledger import QuestionLedger
from tests.builders import a_response, a_turn
from tests.fakes.dying import Dying


class Counts:
    """Hears what the desk counts."""

    def __init__(self) -> None:
        self.delivered_posted: list[bool] = []
        self.outcomes: list[Outcome] = []

    def accepted(self, platform: Platform, *, repeated: bool) -> None: ...

    def answered(self, platform: Platform, outcome: Outcome, *, seconds: float) -> None:
        self.outcomes.append(outcome)

    def delivered(self, platform: Platform, *, posted: bool) -> None:
        self.delivered_posted.append(posted)


@dataclass
class PlainAnswers:
    """Answers every question with its own words; counts how often it was asked."""

    conversations: ConversationStore
    asked: list[UUID] = field(default_factory=list)
    given_up: list[UUID] = field(default_factory=list)
    thinks: asyncio.Event = field(default_factory=asyncio.Event)
    """While it is not set, answers are still being written."""
    prefix: str = "Re: "

    def __post_init__(self) -> None:
        self.thinks.set()

    async def answer(
        self, claim: OpenQuestion, progress: StageReporter
    ) -> tuple[AgentResponse, Turn | None]:
        self.asked.append(claim.question_id)
        await progress.stage(QuestionState.GENERATING)
        await self.thinks.wait()
        question = claim.question.question.message
        state = await self.conversations.open(claim.question.key, model="plain", max_turns=50)
        response = a_response(
            f"{self.prefix}{question} [1]",
            query=question,
            session_id=state.session_id,
            created_at=datetime.now(UTC),
        )
        return response, a_turn(state.session_id, question, response.answer)

    async def give_up(
        self, claim: OpenQuestion, reason: BaseException | None = None
    ) -> AgentResponse:
        self.given_up.append(claim.question_id)
        return await self._sorry(claim, "Sorry.")

    async def decline(self, claim: OpenQuestion) -> AgentResponse:
        return await self._sorry(claim, f"Declined: {claim.refusal}.")

    async def _sorry(self, claim: OpenQuestion, sentence: str) -> AgentResponse:
        state = await self.conversations.open(claim.question.key, model="plain", max_turns=50)
        return a_response(
            sentence,
            answer_id=uuid4(),
            session_id=state.session_id,
            outcome=Outcome.ERROR,
            confidence=0.0,
            confidence_level=ConfidenceLevel.INSUFFICIENT,
            citations=(),
            error=sentence,
        )


class SomeParts:
    """Every answer is two messages, or as many as a test says; lower rungs bear their names."""

    parts = 2

    def render(
        self, response: AgentResponse, question: IncomingQuestion, *, rung: Rung = Rung.RICH
    ) -> Sequence[str]:
        if rung is not Rung.RICH:
            return [f"{rung.value}: {response.answer}"]
        changed = ", changed" if response.source_changed else ""
        return [
            f"{response.answer} ({number}/{self.parts}{changed if number == self.parts else ''})"
            for number in range(1, self.parts + 1)
        ]


class Heard:
    """Progress of which the details are kept."""

    def __init__(self, said: list[str]) -> None:
        self._said = said

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        if detail:
            self._said.append(detail)

    async def text(self, delta: str, *, restart: bool = False) -> None: ...


@dataclass
class Wall:
    """A platform where messages are pinned up, and where posting may go wrong."""

    posted: dict[str, str] = field(default_factory=dict)
    """Part key → payload, in the order they went up."""
    troubles: list[Exception] = field(default_factory=list)
    """What the next posts raise, one after the other."""
    room_for_notices: int = 100
    """For messages that answers take away."""
    takes_effect: bool = False
    """Whether a post that raises went up all the same."""
    attempts: int = 0
    look_ups: int = 0
    edits: int = 0
    dying: Dying = field(default_factory=Dying)
    said: list[str] = field(default_factory=list)
    """The details that progress showed."""
    cleared: list[str] = field(default_factory=list)
    """The questions of which nothing announces an answer any more."""
    signs: list[str] = field(default_factory=list)
    """The questions whose progress is being shown."""

    @contextlib.asynccontextmanager
    async def progress(self, question: IncomingQuestion) -> AsyncIterator[Progress]:
        self.signs.append(question.message_id)
        try:
            yield Heard(self.said)
        finally:
            self.signs.remove(question.message_id)

    def open_notice(self, question: IncomingQuestion) -> bool:
        has_room = self.room_for_notices > 0
        self.room_for_notices -= has_room
        return has_room

    def close_notice(self, question: IncomingQuestion) -> None:
        self.room_for_notices += 1

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        self.attempts += 1
        trouble = self.troubles.pop(0) if self.troubles else None
        if trouble is None or self.takes_effect:
            assert part.key not in self.posted, "posted twice"
            self.posted[part.key] = part.payload
        if trouble is not None:
            raise trouble
        self.dying.maybe()
        return f"at {part.key}"

    async def edit(self, question: IncomingQuestion, part: OutgoingPart) -> None:
        self.edits += 1
        key = str(part.external_id).removeprefix("at ")
        if key not in self.posted:
            raise UpstreamRejected("wall", "no such message")
        self.posted[key] = part.payload
        self.dying.maybe()

    async def remove(self, question: IncomingQuestion, external_id: str) -> None:
        self.posted.pop(external_id.removeprefix("at "), None)
        self.dying.maybe()

    async def clear(self, question: IncomingQuestion) -> None:
        self.cleared.append(question.message_id)

    async def find(self, question: IncomingQuestion, part: OutgoingPart) -> str | None:
        self.look_ups += 1
        return f"at {part.key}" if part.key in self.posted else None


class FullAtFirst(QuestionLedger):
    """A ledger whose disk has no space for the first settlements."""

    refusals = 2

    async def settle(
        self,
        question_id: UUID,
        *,
        worker: str,
        response: AgentResponse,
        turn: Turn | None,
        parts: Sequence[str],
        revision: int = 0,
    ) -> tuple[OutgoingPart, ...]:
        if self.refusals:
            self.refusals -= 1
            raise StorageFull("There is no space left.")
        return await super().settle(
            question_id,
            worker=worker,
            response=response,
            turn=turn,
            parts=parts,
            revision=revision,
        )
