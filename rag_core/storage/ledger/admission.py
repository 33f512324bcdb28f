"""Whether a question is admitted, and whether its asker is still to be told that it is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from sqlalchemy import Integer, bindparam, delete, func, select

from rag_core.desk.incoming import IncomingQuestion, Refusal
from rag_core.desk.limits import Bounds
from rag_core.errors import DeskFull
from rag_core.storage import schema
from rag_core.storage.engines.codec import from_time, to_time
from rag_core.storage.engines.engine import Transaction
from rag_core.storage.engines.statement import Statement, upsert
from rag_core.storage.ledger.token_usage import tokens_used

questions, notices = schema.questions, schema.notices
HOUR, DAY = timedelta(hours=1), timedelta(hours=24)
TOLD_FOR = {
    Refusal.QUEUE: timedelta(minutes=10),
    Refusal.USER: HOUR,
    Refusal.CHANNEL: HOUR,
    Refusal.TENANT: HOUR,
}
"""How long a notice is not repeated for the same person."""

WAITING = Statement(
    select(func.count().label("waiting"))
    .select_from(questions)
    .where(questions.c.closed_at.is_(None))
)
OF_ASKER = Statement(
    select(func.count().label("asked"))
    .select_from(questions)
    .where(
        questions.c.platform == bindparam("platform"),
        questions.c.asker_id == bindparam("asker_id"),
        questions.c.accepted_at > bindparam("since"),
        questions.c.refusal.is_(None),
    )
)
OF_CHANNEL = Statement(
    select(func.count().label("asked"))
    .select_from(questions)
    .where(
        questions.c.platform == bindparam("platform"),
        questions.c.tenant == bindparam("tenant"),
        questions.c.channel_id == bindparam("channel_id"),
        questions.c.accepted_at > bindparam("since"),
        questions.c.refusal.is_(None),
    )
)
NEWEST_OF_ASKER = Statement(
    select(questions.c.accepted_at)
    .where(
        questions.c.platform == bindparam("platform"),
        questions.c.asker_id == bindparam("asker_id"),
        questions.c.accepted_at > bindparam("since"),
        questions.c.refusal.is_(None),
    )
    .order_by(questions.c.accepted_at.desc())
    .limit(bindparam("at_most", type_=Integer))
)
NEWEST_OF_CHANNEL = Statement(
    select(questions.c.accepted_at)
    .where(
        questions.c.platform == bindparam("platform"),
        questions.c.tenant == bindparam("tenant"),
        questions.c.channel_id == bindparam("channel_id"),
        questions.c.accepted_at > bindparam("since"),
        questions.c.refusal.is_(None),
    )
    .order_by(questions.c.accepted_at.desc())
    .limit(bindparam("at_most", type_=Integer))
)
TOLD = Statement(
    select(notices.c.kind).where(
        notices.c.platform == bindparam("platform"),
        notices.c.asker_id == bindparam("asker_id"),
        notices.c.kind == bindparam("kind"),
        notices.c.until > bindparam("now"),
    )
)
TELL = upsert(notices, on=("platform", "asker_id", "kind"))
OUTDATED = Statement(delete(notices).where(notices.c.until <= bindparam("now")))


AGAIN = "again:"
"""Begins the kind of a note that somebody had a question answered anew; one for each time."""
ASKED_AGAIN = Statement(
    select(func.count().label("asked"))
    .select_from(notices)
    .where(
        notices.c.platform == bindparam("platform"),
        notices.c.asker_id == bindparam("asker_id"),
        notices.c.kind.startswith(AGAIN),
        notices.c.until > bindparam("now"),
    )
)


AGAIN_UNTIL = Statement(
    select(notices.c.until).where(
        notices.c.platform == bindparam("platform"),
        notices.c.asker_id == bindparam("asker_id"),
        notices.c.kind.startswith(AGAIN),
        notices.c.until > bindparam("now"),
    )
)


async def refusal_of(
    transaction: Transaction, question: IncomingQuestion, bounds: Bounds
) -> Refusal | None:
    """The first bound that this question meets; a desk that is over-full raises DeskFull."""
    now = datetime.now(UTC)
    key = question.key
    place = {"platform": key.platform.value, "tenant": key.tenant}
    if bounds.waiting:
        waiting = (await transaction.rows(WAITING))[0]["waiting"]
        if waiting >= bounds.waiting + bounds.waiting_notices:
            raise DeskFull("Too many questions are waiting. Please ask again in a few minutes.")
        if waiting >= bounds.waiting:
            return Refusal.QUEUE
    if bounds.user_hour and await asked_by(transaction, question, now) >= bounds.user_hour:
        return Refusal.USER
    if bounds.channel_day:
        asked = await transaction.rows(
            OF_CHANNEL, **place, channel_id=key.channel_id, since=to_time(now - DAY)
        )
        if asked[0]["asked"] >= bounds.channel_day:
            return Refusal.CHANNEL
    if bounds.tenant_tokens_day:
        used = await tokens_used(transaction, key.platform.value, key.tenant, now)
        if used >= bounds.tenant_tokens_day:
            return Refusal.TENANT
    return None


async def retry_at_of(
    transaction: Transaction,
    question: IncomingQuestion,
    bounds: Bounds,
    refusal: Refusal | None,
) -> datetime | None:
    """When the bound has room again: as soon as the oldest of those that fill it leaves it."""
    now, key = datetime.now(UTC), question.key
    place = {"platform": key.platform.value}
    if refusal is Refusal.USER:
        most, asker = bounds.user_hour, {**place, "asker_id": question.asker_id}
        new = await transaction.rows(
            NEWEST_OF_ASKER, **asker, since=to_time(now - HOUR), at_most=most
        )
        again = await transaction.rows(AGAIN_UNTIL, **asker, now=to_time(now))
        ends = [from_time(row["accepted_at"]) + HOUR for row in new]
        ends += [from_time(row["until"]) for row in again]
    elif refusal is Refusal.CHANNEL:
        most, place = bounds.channel_day, {**place, "tenant": key.tenant}
        rows = await transaction.rows(
            NEWEST_OF_CHANNEL,
            **place,
            channel_id=key.channel_id,
            since=to_time(now - DAY),
            at_most=most,
        )
        ends = [from_time(row["accepted_at"]) + DAY for row in rows]
    else:
        return None
    return sorted(ends, reverse=True)[most - 1] if len(ends) >= most else None


async def asked_by(transaction: Transaction, question: IncomingQuestion, now: datetime) -> int:
    """How much this asker has had in the last hour: questions, and answers given anew."""
    asker = {"platform": question.key.platform.value, "asker_id": question.asker_id}
    new = await transaction.rows(OF_ASKER, **asker, since=to_time(now - HOUR))
    again = await transaction.rows(ASKED_AGAIN, **asker, now=to_time(now))
    return int(new[0]["asked"] + again[0]["asked"])


async def count_again(transaction: Transaction, question: IncomingQuestion) -> None:
    """Note for an hour that this asker had a question answered anew."""
    now = datetime.now(UTC)
    await transaction.rows(OUTDATED, now=to_time(now))
    await transaction.rows(
        TELL,
        platform=question.key.platform.value,
        asker_id=question.asker_id,
        kind=f"{AGAIN}{uuid4()}",
        until=to_time(now + HOUR),
    )


async def tell_once(transaction: Transaction, question: IncomingQuestion, refusal: Refusal) -> bool:
    """Whether this asker has not been told of this bound lately; from now on they have."""
    now = datetime.now(UTC)
    about = {
        "platform": question.key.platform.value,
        "asker_id": question.asker_id,
        "kind": refusal.value,
    }
    if await transaction.rows(TOLD, **about, now=to_time(now)):
        return False
    await transaction.rows(OUTDATED, now=to_time(now))
    await transaction.rows(TELL, **about, until=to_time(now + TOLD_FOR[refusal]))
    return True
