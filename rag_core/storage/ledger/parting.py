"""The parts of an answer: laid out anew over what earlier answers to the question left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from uuid import UUID

from sqlalchemy import bindparam, delete, or_, select, update

from rag_core.desk.outgoing import OutgoingPart, PartState
from rag_core.storage import schema
from rag_core.storage.engines.engine import Row, Transaction
from rag_core.storage.engines.statement import Statement, upsert

parts = schema.parts
OF_ONE = (parts.c.question == bindparam("of"), parts.c.number == bindparam("part"))
NOTICE = 9_000
"""The number of the part that tells the asker of a long queue; it goes when the answer comes."""

PARTS = Statement(
    select(parts).where(parts.c.question == bindparam("question")).order_by(parts.c.number)
)
PUT = upsert(parts, on=("question", "number"))
DROP = Statement(delete(parts).where(*OF_ONE).returning(parts.c.number))
UNSENT = Statement(
    delete(parts).where(
        parts.c.question == bindparam("of"), parts.c.state == PartState.PENDING.value
    )
)
RECALLED = Statement(
    update(parts)
    .where(
        parts.c.question == bindparam("of"),
        or_(
            parts.c.state == PartState.EDITING.value,
            parts.c.state == PartState.REMOVING.value,
        ),
    )
    .values(state=PartState.POSTED.value, payload="")
)
BEGIN_POST = Statement(
    update(parts)
    .where(*OF_ONE, parts.c.state == bindparam("was"))
    .values(state=bindparam("becomes"))
    .returning(parts.c.number)
)
NOT_POSTED = Statement(
    update(parts)
    .where(*OF_ONE, parts.c.state == PartState.POSTING.value)
    .values(state=PartState.PENDING.value)
)
POSTED = Statement(
    update(parts)
    .where(*OF_ONE)
    .values(state=PartState.POSTED.value, external_id=bindparam("external"))
    .returning(parts.c.number)
)
ANEW = Statement(
    update(parts)
    .where(*OF_ONE)
    .values(state=PartState.PENDING.value, external_id=None, revision=bindparam("made_in"))
    .returning(parts.c.number)
)


async def lay_out(
    transaction: Transaction, question: UUID, payloads: Sequence[str], *, revision: int
) -> tuple[OutgoingPart, ...]:
    """Store what is to be shown: posted messages are edited, more are posted, surplus removed."""
    there = {part.number: part for part in await load_parts(transaction, str(question))}
    numbers = range(max(len(payloads), *(number + 1 for number in there if number < NOTICE), 0))
    for number, payload in zip_longest(numbers, payloads):
        old = there.pop(number, None)
        if payload is not None:
            await put(transaction, merged(old, question, number, payload, revision))
        elif old is not None:
            await clear(transaction, old)
    for notice in there.values():
        await clear(transaction, notice)
    return await load_parts(transaction, str(question))


def merged(
    old: OutgoingPart | None, question: UUID, number: int, payload: str, revision: int
) -> OutgoingPart:
    """One place of the answer: its message is edited where there is one already."""
    if old is None or old.external_id is None:
        return OutgoingPart(question_id=question, number=number, payload=payload, revision=revision)
    unchanged = old.state is PartState.POSTED and old.payload == payload
    state = PartState.POSTED if unchanged else PartState.EDITING
    return replace(old, payload=payload, state=state)


async def clear(transaction: Transaction, old: OutgoingPart) -> None:
    """What was posted is removed by the delivery; what was not is dropped here."""
    if old.external_id is None:
        await transaction.rows(DROP, of=str(old.question_id), part=old.number)
    else:
        await put(transaction, replace(old, state=PartState.REMOVING))


async def put(transaction: Transaction, part: OutgoingPart) -> None:
    await transaction.rows(
        PUT,
        question=str(part.question_id),
        number=part.number,
        payload=part.payload,
        state=part.state.value,
        external_id=part.external_id,
        revision=part.revision,
    )


async def recall(transaction: Transaction, question: str) -> None:
    """Send no more of an answer; what is posted stays until it is replaced or removed."""
    await transaction.rows(UNSENT, of=question)
    await transaction.rows(RECALLED, of=question)


async def load_parts(transaction: Transaction, question: str) -> tuple[OutgoingPart, ...]:
    """What is shown of a question, in order."""
    return tuple(part_from_row(row) for row in await transaction.rows(PARTS, question=question))


def part_from_row(row: Row) -> OutgoingPart:
    return OutgoingPart(
        question_id=UUID(row["question"]),
        number=row["number"],
        payload=row["payload"],
        state=PartState(row["state"]),
        external_id=row["external_id"],
        revision=row["revision"],
    )
