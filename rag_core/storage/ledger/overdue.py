"""Questions that wait long, and the notice that their askers are given once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import Integer, bindparam, func, select, update

from rag_core.desk.backlog import Backlog, Overdue
from rag_core.desk.outgoing import OutgoingPart
from rag_core.storage import schema
from rag_core.storage.engines.codec import maybe_time, question_from_json, to_time
from rag_core.storage.engines.engine import Database, Transaction
from rag_core.storage.engines.statement import Statement
from rag_core.storage.ledger.parting import NOTICE, put

questions = schema.questions
OPEN = questions.c.closed_at.is_(None)
BACKLOG = Statement(
    select(func.count().label("waiting"), func.min(questions.c.accepted_at).label("oldest")).where(
        OPEN
    )
)
OVERDUE = Statement(
    select(questions.c.id, questions.c.body, questions.c.revision)
    .where(
        OPEN,
        questions.c.attempt == 0,
        questions.c.settled_at.is_(None),
        questions.c.told_at.is_(None),
        questions.c.withdrawn_at.is_(None),
        questions.c.refusal.is_(None),
        questions.c.accepted_at < bindparam("before"),
    )
    .limit(bindparam("limit", type_=Integer))
)
TELL = Statement(
    update(questions)
    .where(
        questions.c.id == bindparam("question"),
        questions.c.revision == bindparam("in_revision"),
        questions.c.attempt == 0,
        questions.c.told_at.is_(None),
    )
    .values(told_at=bindparam("now"))
    .returning(questions.c.id)
)


async def backlog(database: Database) -> Backlog:
    row = (await database.rows(BACKLOG))[0]
    return Backlog(waiting=int(row["waiting"]), oldest=maybe_time(row["oldest"]))


async def overdue(database: Database, *, before: datetime, limit: int) -> Sequence[Overdue]:
    """Questions nobody has begun to work on, accepted before then, whose askers know nothing."""
    rows = await database.rows(OVERDUE, before=to_time(before), limit=limit)
    return [
        Overdue(
            question_id=UUID(row["id"]),
            question=question_from_json(row["body"]),
            revision=row["revision"],
        )
        for row in rows
    ]


async def tell(transaction: Transaction, waiting: Overdue, payload: str) -> OutgoingPart | None:
    """Write down the notice that is to be sent; None: the question is no longer waiting."""
    told = await transaction.rows(
        TELL,
        question=str(waiting.question_id),
        in_revision=waiting.revision,
        now=to_time(datetime.now(UTC)),
    )
    if not told:
        return None
    part = OutgoingPart(
        question_id=waiting.question_id,
        number=NOTICE,
        payload=payload,
        revision=waiting.revision,
    )
    await put(transaction, part)
    return part
