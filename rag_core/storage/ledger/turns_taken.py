"""Whose turn it is: tenants one after another, and each tenant's askers one after another.

Every waiting thread holds two numbers. The first orders tenants: a tenant's waiting threads have
numbers that follow one another, so one with a thousand threads takes one turn in each round, like
one with a single thread. The second orders the threads of one tenant by their askers, in the same
way. The thread with the smallest first number says which tenant is next; of that tenant's threads
the one with the smallest second number is taken, and the two trade their first numbers.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Select,
    String,
    and_,
    bindparam,
    literal,
    literal_column,
    or_,
    select,
    update,
)

from rag_core.conversation.key import Platform
from rag_core.storage import schema
from rag_core.storage.engines.clock import SecondsFromNow
from rag_core.storage.engines.engine import Row, Transaction
from rag_core.storage.engines.statement import Statement

threads, questions = schema.threads, schema.questions

WAITS = threads.c.waiting_since.is_not(None)
FREE = or_(
    threads.c.lease_until.is_(None),
    threads.c.lease_until <= SecondsFromNow(literal_column("0")),
    # A moment that a thread was to wait, by a clock that has been set back since.
    and_(
        threads.c.worker.is_(None),
        threads.c.lease_until > SecondsFromNow(literal_column("60")),
    ),
)
OF_TENANT = (
    threads.c.platform == bindparam("platform"),
    threads.c.tenant == bindparam("tenant"),
)
OF_ASKER = (*OF_TENANT, threads.c.waiting_asker == bindparam("asker"))


NOT_HELD_UP = bindparam("held_up", type_=String).not_like(
    literal("%,") + threads.c.platform + literal(",%")
)


def first(*columns: Any, of: tuple[ColumnElement[bool], ...] = (), by: Any) -> Select[Any]:
    """The thread nobody works on that comes first by one of the two numbers."""
    return (
        select(*columns)
        .where(WAITS, by.is_not(None), FREE, *of)
        .order_by(by, threads.c.waiting_since)
        .limit(1)
    )


def last(number: Any, *of: ColumnElement[bool]) -> ScalarSelect[Any]:
    known = (WAITS, number.is_not(None))
    return select(number).where(*known, *of).order_by(number.desc()).limit(1).scalar_subquery()


FRONT = first(
    threads.c.id,
    threads.c.platform,
    threads.c.tenant,
    threads.c.tenant_turn,
    of=(NOT_HELD_UP,),
    by=threads.c.tenant_turn,
)
PEEK = Statement(FRONT)
PICK_TENANT = Statement(FRONT.with_for_update(skip_locked=True))
PICK_THREAD = Statement(
    first(
        threads.c.id, threads.c.tenant_turn, of=OF_TENANT, by=threads.c.asker_turn
    ).with_for_update(skip_locked=True)
)
TRADE = Statement(
    update(threads)
    .where(threads.c.id == bindparam("in_thread"))
    .values(tenant_turn=bindparam("turn"))
)
STANDING = Statement(
    select(
        first(threads.c.tenant_turn, by=threads.c.tenant_turn).scalar_subquery().label("front"),
        last(threads.c.tenant_turn).label("back"),
        last(threads.c.tenant_turn, *OF_TENANT).label("tenant_back"),
        first(threads.c.asker_turn, of=OF_TENANT, by=threads.c.asker_turn)
        .scalar_subquery()
        .label("own_front"),
        last(threads.c.asker_turn, *OF_TENANT).label("own_back"),
        last(threads.c.asker_turn, *OF_ASKER).label("asker_back"),
    )
)
QUEUE = Statement(
    update(threads)
    .where(threads.c.id == bindparam("in_thread"), threads.c.tenant_turn.is_(None))
    .values(
        waiting_asker=bindparam("whose"),
        tenant_turn=bindparam("first_turn"),
        asker_turn=bindparam("second_turn"),
    )
)
STOOD = Statement(
    select(threads.c.waiting_asker, threads.c.tenant_turn, threads.c.asker_turn).where(
        threads.c.id == bindparam("in_thread")
    )
)
UNTURNED = Statement(
    select(threads.c.platform, threads.c.tenant).where(
        threads.c.id == bindparam("in_thread"), WAITS, threads.c.tenant_turn.is_(None)
    )
)


def held_up(platforms: Collection[Platform]) -> str:
    """Platforms as the queries above look for them."""
    return f",{','.join(sorted(platforms))},"


async def pick(transaction: Transaction, *, but_not: Collection[Platform]) -> int | None:
    """The thread whose turn it is; nobody else can take it before this transaction ends."""
    front = await transaction.rows(PICK_TENANT, held_up=held_up(but_not))
    if not front:
        return None
    tenant = front[0]
    own = await transaction.rows(PICK_THREAD, platform=tenant["platform"], tenant=tenant["tenant"])
    chosen = own[0] if own else tenant
    if chosen["id"] != tenant["id"]:
        await transaction.rows(TRADE, in_thread=tenant["id"], turn=chosen["tenant_turn"])
        await transaction.rows(TRADE, in_thread=chosen["id"], turn=tenant["tenant_turn"])
    return int(chosen["id"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The place that a thread had in the line when it was served."""

    asker: str | None = None
    tenant_turn: int | None = None
    asker_turn: int | None = None


NOT_SERVED = Served()


async def served(transaction: Transaction, thread: int) -> Served:
    """The place that a thread is about to leave."""
    rows = await transaction.rows(STOOD, in_thread=thread)
    if not rows:
        return NOT_SERVED
    return Served(
        asker=rows[0]["waiting_asker"],
        tenant_turn=rows[0]["tenant_turn"],
        asker_turn=rows[0]["asker_turn"],
    )


async def queue(
    transaction: Transaction, thread: int, *, asker: str, was: Served = NOT_SERVED
) -> None:
    """Give a thread that begins to wait its place; one that waits already keeps its own.

    A thread that was served just now goes behind the place that it had."""
    found = await transaction.rows(UNTURNED, in_thread=thread)
    if not found:
        return
    names = {"platform": found[0]["platform"], "tenant": found[0]["tenant"]}
    standing = (await transaction.rows(STANDING, **names, asker=asker))[0]
    await transaction.rows(
        QUEUE,
        in_thread=thread,
        whose=asker,
        first_turn=place(standing, "front", "back", "tenant_back", was.tenant_turn),
        second_turn=place(
            standing,
            "own_front",
            "own_back",
            "asker_back",
            was.asker_turn if was.asker == asker else None,
        ),
    )


def place(standing: Row, front: str, back: str, own: str, left: int | None) -> int:
    """Where the line is now, or behind one's own last place in it."""
    now = standing[front] if standing[front] is not None else standing[back]
    behind = [int(last) + 1 for last in (standing[own], left) if last is not None]
    return max(int(now or 0), *behind, 0)
