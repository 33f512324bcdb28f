"""Where every question is written down until its answer is posted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.state import Turn
from rag_core.desk.asked import AskedQuestion
from rag_core.desk.backlog import Backlog, ChangedAnswer, Overdue
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity, Receipt
from rag_core.desk.limits import UNBOUNDED, Bounds
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart
from rag_core.desk.progress import QuestionState


class Ledger(Protocol):
    """Every question, from the moment it is accepted until its answer is posted."""

    async def accept(self, question: IncomingQuestion, *, bounds: Bounds = UNBOUNDED) -> Receipt:
        """Write a question under its message identity; a repeat changes nothing.

        What meets a bound is declined: the first time as a question whose answer is a notice."""
        ...

    async def claim(
        self, *, worker: str, lease: timedelta, but_not: Collection[Platform] = ()
    ) -> OpenQuestion | None:
        """The first open question of the thread whose turn it is: tenants and askers in turn,
        a thread's own questions by position. What some platforms ask may be left for later."""
        ...

    async def begin_answer(self, question_id: UUID) -> int:
        """Note that the model is about to be asked, and for which time."""
        ...

    async def unbegin_answer(self, question_id: UUID) -> None:
        """An answer whose process ended in good order was not begun, as far as blame goes."""
        ...

    async def renew(self, question_id: UUID, *, worker: str, lease: timedelta) -> bool:
        """Hold a claim longer; False when another worker has it."""
        ...

    async def let_go(self, question_id: UUID, *, worker: str) -> None:
        """Give one claim back."""
        ...

    async def release(self, *, worker: str) -> int:
        """Give back what this worker still holds; how many questions that were."""
        ...

    async def advance(self, question_id: UUID, state: QuestionState) -> None: ...

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
        """Store the answer, its turn and its outgoing parts in one transaction.

        Messages of an earlier answer to the question are edited or removed by these parts.
        Refused with ClaimLost when the claim was lost, with Superseded when the question
        is no longer in this revision."""
        ...

    async def step_down(
        self, question_id: UUID, *, worker: str, revision: int, rung: str, parts: Sequence[str]
    ) -> tuple[OutgoingPart, ...]:
        """Lay a settled answer out anew, in a plainer form that its platform may take."""
        ...

    async def revise(self, question: IncomingQuestion) -> UUID | None:
        """The same message with another text: to be answered anew. None: nothing changed."""
        ...

    async def withdraw(
        self, identity: MessageIdentity, *, asker_id: str | None = None
    ) -> UUID | None:
        """Take a question out of its thread, with its answer; None: no such question."""
        ...

    async def ask_again(
        self, answer_id: UUID, *, asker_id: str, bounds: Bounds = UNBOUNDED
    ) -> Receipt | None:
        """Let the question of this answer be answered anew, unless whoever asks has met a bound.

        None: no such answer. It counts as a question of theirs; one that is under way does not."""
        ...

    async def backlog(self) -> Backlog: ...

    async def overdue(self, *, before: datetime, limit: int) -> Sequence[Overdue]:
        """Questions accepted before then that nobody works on, and whose askers know nothing."""
        ...

    async def tell(self, waiting: Overdue, payload: str) -> OutgoingPart | None:
        """Write down the notice of a long queue; None: the question is no longer waiting."""
        ...

    async def cited_after(self, chunk_id: str, *, limit: int) -> Sequence[str]:
        """The next passages, by id, that are cited by answers without a changed source."""
        ...

    async def mark_changed(self, chunk_ids: Sequence[str]) -> int:
        """Mark the answers that cite passages which are no longer there; how many they are."""
        ...

    async def changed_answers(self, *, limit: int) -> Sequence[ChangedAnswer]:
        """Marked answers whose messages do not say so yet."""
        ...

    async def show_change(self, question_id: UUID, payloads: Sequence[str] | None) -> None:
        """Let a worker edit the messages of a marked answer; None: there are none to edit."""
        ...

    async def begin_post(self, part: OutgoingPart) -> None:
        """Raises Superseded when the part is no longer wanted as it is."""
        ...

    async def posted(self, part: OutgoingPart, *, external_id: str) -> None: ...

    async def not_posted(self, part: OutgoingPart) -> None:
        """The platform refused the part: it is nowhere, and need not be looked for."""
        ...

    async def dropped(self, part: OutgoingPart) -> None:
        """The part is shown nowhere any more."""
        ...

    async def post_anew(self, part: OutgoingPart, *, revision: int) -> OutgoingPart:
        """A message that could not be edited is replaced by a new one."""
        ...

    async def close(self, question_id: UUID, *, delivered: bool, revision: int = 0) -> None:
        """The end of a question: every part was posted, or nothing more will be tried.

        One that is no longer in this revision is only let go."""
        ...

    async def answer(self, answer_id: UUID) -> tuple[AgentResponse, ConversationKey] | None: ...

    async def posted_parts(self, answer_id: UUID) -> Sequence[str]:
        """The platform's ids of the messages that show an answer, in order."""
        ...

    async def response_to(self, question_id: UUID) -> AgentResponse | None:
        """The settled answer to a question, if there is one yet."""
        ...

    async def state_of(self, question_id: UUID) -> QuestionState | None: ...

    async def asked_in(self, key: ConversationKey, *, limit: int = 100) -> Sequence[AskedQuestion]:
        """The newest questions of a thread, by position, with the answers that are settled."""
        ...

    async def asked_by(
        self, *, platform: Platform, tenant: TenantId, asker_id: str, limit: int
    ) -> Sequence[str]:
        """What a person asked in one server or workspace, the newest first."""
        ...

    async def waiting(self) -> int:
        """How many questions are neither delivered nor given up."""
        ...
