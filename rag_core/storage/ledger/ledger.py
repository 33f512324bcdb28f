"""Every question, from the moment it is accepted until its answer is posted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy import bindparam, select, update

from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.state import Turn
from rag_core.desk.asked import AskedQuestion
from rag_core.desk.backlog import Backlog, ChangedAnswer, Overdue
from rag_core.desk.incoming import IncomingQuestion, MessageIdentity, Receipt
from rag_core.desk.limits import UNBOUNDED, Bounds
from rag_core.desk.outgoing import OpenQuestion, OutgoingPart, PartState
from rag_core.desk.progress import QuestionState
from rag_core.errors import StorageError, Superseded
from rag_core.storage import schema
from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement
from rag_core.storage.ledger.acceptance import (
    KNOWN,
    AlreadyAccepted,
    accept,
    receipt_of,
)
from rag_core.storage.ledger.admission import WAITING
from rag_core.storage.ledger.answers import answer_by_id, answer_to
from rag_core.storage.ledger.asked import asked_by, asked_in
from rag_core.storage.ledger.changes import changed_answers, cited_after, mark_changed, show_change
from rag_core.storage.ledger.claims import (
    BEGIN_ANSWER,
    LET_GO,
    RELEASE,
    RENEW,
    UNBEGIN_ANSWER,
    Claim,
    close,
    take,
)
from rag_core.storage.ledger.overdue import backlog, overdue, tell
from rag_core.storage.ledger.parting import ANEW, BEGIN_POST, DROP, NOT_POSTED, POSTED
from rag_core.storage.ledger.revisions import ask_again, revise, withdraw
from rag_core.storage.ledger.settlement import settle, step_down
from rag_core.storage.ledger.turns_taken import PEEK, held_up, pick
from rag_core.storage.messages import identity_to_row

questions, parts = schema.questions, schema.parts

ADVANCE = Statement(
    update(questions)
    .where(questions.c.id == bindparam("question"), questions.c.settled_at.is_(None))
    .values(state=bindparam("new_state"))
)
POSTED_PARTS = Statement(
    select(parts.c.external_id)
    .select_from(parts.join(schema.answers, parts.c.question == schema.answers.c.question))
    .where(
        schema.answers.c.answer_id == bindparam("answer_id"),
        parts.c.external_id.is_not(None),
        parts.c.state != PartState.REMOVING.value,
    )
    .order_by(parts.c.number)
)
STATE = Statement(select(questions.c.state).where(questions.c.id == bindparam("question")))


class QuestionLedger:
    """A question is accepted once, worked on by one worker at a time, and settled once.

    What may not be lost even with the host waits for the disk: that a question was accepted, its
    answer, and that a part is about to be posted. All else follows from these.

    The claim lies on the thread, so a thread can never have two."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(self, question: IncomingQuestion, *, bounds: Bounds = UNBOUNDED) -> Receipt:
        # Most deliveries of a busy moment are repeats, and those need not wait for a writer.
        if heard := await self._database.rows(KNOWN, **identity_to_row(question.identity)):
            return receipt_of(heard[0]["id"], heard[0]["refusal"])
        question_id = uuid4()

        async def body(transaction: Transaction) -> Receipt:
            return await accept(transaction, question_id, question, bounds)

        try:
            return await self._database.write(body)
        except AlreadyAccepted:
            known = await self._database.rows(KNOWN, **identity_to_row(question.identity))
            if not known:
                raise StorageError("The question was deleted while it was heard again.") from None
            return receipt_of(known[0]["id"], known[0]["refusal"])

    async def claim(
        self, *, worker: str, lease: timedelta, but_not: Collection[Platform] = ()
    ) -> OpenQuestion | None:
        if not await self._database.rows(PEEK, held_up=held_up(but_not)):
            return None

        async def body(transaction: Transaction) -> Claim | None:
            thread = await pick(transaction, but_not=but_not)
            if thread is None:  # another worker was quicker
                return None
            return await take(transaction, thread, worker=worker, lease=lease)

        # Whoever loses a claim with the host claims anew.
        claim = await self._database.write(body, lasting=False)
        # Read when it is claimed: a question that this program cannot read holds up its own
        # thread and no other.
        return claim.read() if claim else None

    async def begin_answer(self, question_id: UUID) -> int:
        begun = await self._database.note(BEGIN_ANSWER, question=str(question_id))
        must_be_wanted(begun)
        return int(begun[0]["attempt"])

    async def unbegin_answer(self, question_id: UUID) -> None:
        await self._database.note(UNBEGIN_ANSWER, question=str(question_id))

    async def renew(self, question_id: UUID, *, worker: str, lease: timedelta) -> bool:
        held = await self._database.note(
            RENEW, question=str(question_id), by=worker, lease=lease.total_seconds()
        )
        return bool(held)

    async def let_go(self, question_id: UUID, *, worker: str) -> None:
        await self._database.note(LET_GO, question=str(question_id), by=worker)

    async def release(self, *, worker: str) -> int:
        return len(await self._database.note(RELEASE, by=worker))

    async def advance(self, question_id: UUID, state: QuestionState) -> None:
        """Note how far a question has come; what has ended stays as it ended."""
        await self._database.note(ADVANCE, question=str(question_id), new_state=state.value)

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
        async def body(transaction: Transaction) -> tuple[OutgoingPart, ...]:
            return await settle(
                transaction,
                question_id,
                worker=worker,
                revision=revision,
                response=response,
                turn=turn,
                parts=parts,
            )

        return await self._database.write(body)

    async def step_down(
        self, question_id: UUID, *, worker: str, revision: int, rung: str, parts: Sequence[str]
    ) -> tuple[OutgoingPart, ...]:
        async def body(transaction: Transaction) -> tuple[OutgoingPart, ...]:
            return await step_down(
                transaction, question_id, worker=worker, revision=revision, rung=rung, parts=parts
            )

        return await self._database.write(body)

    async def revise(self, question: IncomingQuestion) -> UUID | None:
        async def body(transaction: Transaction) -> UUID | None:
            return await revise(transaction, question)

        return await self._database.write(body)

    async def withdraw(
        self, identity: MessageIdentity, *, asker_id: str | None = None
    ) -> UUID | None:
        async def body(transaction: Transaction) -> UUID | None:
            return await withdraw(transaction, identity, asker_id=asker_id)

        return await self._database.write(body)

    async def ask_again(
        self, answer_id: UUID, *, asker_id: str, bounds: Bounds = UNBOUNDED
    ) -> Receipt | None:
        async def body(transaction: Transaction) -> Receipt | None:
            return await ask_again(transaction, answer_id, asker_id=asker_id, bounds=bounds)

        return await self._database.write(body)

    async def backlog(self) -> Backlog:
        return await backlog(self._database)

    async def overdue(self, *, before: datetime, limit: int) -> Sequence[Overdue]:
        return await overdue(self._database, before=before, limit=limit)

    async def tell(self, waiting: Overdue, payload: str) -> OutgoingPart | None:
        async def body(transaction: Transaction) -> OutgoingPart | None:
            return await tell(transaction, waiting, payload)

        return await self._database.write(body)

    async def cited_after(self, chunk_id: str, *, limit: int) -> Sequence[str]:
        return await cited_after(self._database, chunk_id, limit=limit)

    async def mark_changed(self, chunk_ids: Sequence[str]) -> int:
        return await mark_changed(self._database, chunk_ids)

    async def changed_answers(self, *, limit: int) -> Sequence[ChangedAnswer]:
        return await changed_answers(self._database, limit=limit)

    async def show_change(self, question_id: UUID, payloads: Sequence[str] | None) -> None:
        async def body(transaction: Transaction) -> None:
            await show_change(transaction, question_id, payloads)

        await self._database.write(body)

    async def begin_post(self, part: OutgoingPart) -> None:
        becomes = PartState.POSTING if part.external_id is None else part.state
        begun = await self._database.run(
            BEGIN_POST,
            of=str(part.question_id),
            part=part.number,
            was=part.state.value,
            becomes=becomes.value,
        )
        must_be_wanted(begun)

    async def posted(self, part: OutgoingPart, *, external_id: str) -> None:
        # Where this is lost with the host, the platform is asked whether the part is there.
        known = await self._database.note(
            POSTED, of=str(part.question_id), part=part.number, external=external_id
        )
        must_be_wanted(known)

    async def not_posted(self, part: OutgoingPart) -> None:
        # Where this is lost, the part is looked for, and is not there.
        await self._database.note(NOT_POSTED, of=str(part.question_id), part=part.number)

    async def dropped(self, part: OutgoingPart) -> None:
        await self._database.run(DROP, of=str(part.question_id), part=part.number)

    async def post_anew(self, part: OutgoingPart, *, revision: int) -> OutgoingPart:
        known = await self._database.run(
            ANEW, of=str(part.question_id), part=part.number, made_in=revision
        )
        must_be_wanted(known)
        return replace(part, state=PartState.PENDING, external_id=None, revision=revision)

    async def close(self, question_id: UUID, *, delivered: bool, revision: int = 0) -> None:
        async def body(transaction: Transaction) -> None:
            await close(transaction, str(question_id), revision=revision, delivered=delivered)

        await self._database.write(body, lasting=False)

    async def answer(self, answer_id: UUID) -> tuple[AgentResponse, ConversationKey] | None:
        return await answer_by_id(self._database, answer_id)

    async def posted_parts(self, answer_id: UUID) -> Sequence[str]:
        rows = await self._database.rows(POSTED_PARTS, answer_id=str(answer_id))
        return [row["external_id"] for row in rows]

    async def response_to(self, question_id: UUID) -> AgentResponse | None:
        return await answer_to(self._database, question_id)

    async def state_of(self, question_id: UUID) -> QuestionState | None:
        rows = await self._database.rows(STATE, question=str(question_id))
        return QuestionState(rows[0]["state"]) if rows else None

    async def asked_in(self, key: ConversationKey, *, limit: int = 100) -> Sequence[AskedQuestion]:
        return await asked_in(self._database, key, limit=limit)

    async def asked_by(
        self, *, platform: Platform, tenant: TenantId, asker_id: str, limit: int
    ) -> Sequence[str]:
        return await asked_by(
            self._database, platform=platform, tenant=tenant, asker_id=asker_id, limit=limit
        )

    async def waiting(self) -> int:
        rows = await self._database.rows(WAITING)
        return int(rows[0]["waiting"])


def must_be_wanted(rows: Sequence[Row]) -> None:
    """A part that is not there, or not as it was, was changed or taken back by the asker."""
    if not rows:
        raise Superseded("The answer was changed or deleted; nothing more of it is posted.")
