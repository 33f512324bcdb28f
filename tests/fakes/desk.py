"""A desk with a real ledger, and platform and agent doubles that behave."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.agent.confidence import ConfidenceLevel
from rag_core.conversation.key import Platform
from rag_core.conversation.state import Turn
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart
from rag_core.desk.progress import Progress, QuestionState
from rag_core.desk.reporter import StageReporter
from rag_core.errors import StorageFull
from rag_core.ports import ConversationStore
from rag_core.storage.ledger import QuestionLedger
from tests.builders import a_response, a_turn


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

    async def answer(
        self, claim: OpenQuestion, progress: StageReporter
    ) -> tuple[AgentResponse, Turn | None]:
        self.asked.append(claim.question_id)
        await progress.stage(QuestionState.GENERATING)
        question = claim.question.question.message
        state = await self.conversations.open(claim.question.key, model="plain", max_turns=50)
        response = a_response(f"Re: {question} [1]", query=question, session_id=state.session_id)
        return response, a_turn(state.session_id, question, response.answer)

    async def give_up(self, claim: OpenQuestion) -> AgentResponse:
        self.given_up.append(claim.question_id)
        state = await self.conversations.open(claim.question.key, model="plain", max_turns=50)
        return a_response(
            "Sorry.",
            answer_id=uuid4(),
            session_id=state.session_id,
            outcome=Outcome.ERROR,
            confidence=0.0,
            confidence_level=ConfidenceLevel.INSUFFICIENT,
            citations=(),
            error="Sorry.",
        )


class TwoParts:
    """Every answer is two messages."""

    def render(self, response: AgentResponse, question: IncomingQuestion) -> Sequence[str]:
        return [f"{response.answer} (1/2)", f"{response.answer} (2/2)"]


class Silent:
    """Progress that nobody looks at."""

    async def stage(self, state: QuestionState, detail: str = "") -> None: ...

    async def text(self, delta: str, *, restart: bool = False) -> None: ...


@dataclass
class Wall:
    """A platform where messages are pinned up, and where posting may go wrong."""

    posted: dict[str, str] = field(default_factory=dict)
    """Part key → payload, in the order they went up."""
    troubles: list[Exception] = field(default_factory=list)
    """What the next posts raise, one after the other."""
    takes_effect: bool = False
    """Whether a post that raises went up all the same."""
    attempts: int = 0
    look_ups: int = 0

    @contextlib.asynccontextmanager
    async def progress(self, question: IncomingQuestion) -> AsyncIterator[Progress]:
        yield Silent()

    async def post(self, question: IncomingQuestion, part: OutgoingPart) -> str:
        self.attempts += 1
        trouble = self.troubles.pop(0) if self.troubles else None
        if trouble is None or self.takes_effect:
            assert part.key not in self.posted, "posted twice"
            self.posted[part.key] = part.payload
        if trouble is not None:
            raise trouble
        return f"at {part.key}"

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
    ) -> tuple[OutgoingPart, ...]:
        if self.refusals:
            self.refusals -= 1
            raise StorageFull("There is no space left.")
        return await super().settle(
            question_id, worker=worker, response=response, turn=turn, parts=parts
        )
