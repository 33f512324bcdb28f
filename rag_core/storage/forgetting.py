"""Forgetting: a person, a server or workspace, or what is older than it may be kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, Select, bindparam, delete, func, select, update

from rag_core.conversation.key import Platform, TenantId
from rag_core.storage import schema
from rag_core.storage.conversations.turn_rows import unsay
from rag_core.storage.engines.codec import to_time
from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement
from rag_core.storage.ledger.claims import go_on
from rag_core.storage.ledger.forgotten import remember_forgotten
from rag_core.storage.messages import identity_from_row
from rag_core.storage.quoted_words import forget_quoted
from rag_core.storage.staff_answers import OF_AUTHOR, OF_KEEPER
from rag_core.storage.staff_answers import OF_TENANT as STAFF_OF_TENANT
from rag_core.storage.staff_answers import OLD as OLD_REPLIES

threads, sessions, turns = schema.threads, schema.sessions, schema.turns
questions, answers, feedback = schema.questions, schema.answers, schema.feedback
AT_ONCE = 200
"""Questions forgotten in one transaction: others are accepted in between."""


def some(
    condition: ColumnElement[bool], *further: ColumnElement[bool]
) -> Select[tuple[object, ...]]:
    """A few of the questions that are to be forgotten."""
    return (
        select(
            questions.c.id,
            questions.c.thread,
            questions.c.platform,
            questions.c.tenant,
            questions.c.channel_id,
            questions.c.message_id,
        )
        .where(condition, *further)
        .limit(bindparam("limit", type_=Integer))
    )


OF_PERSON = Statement(
    some(
        questions.c.platform == bindparam("platform"),
        questions.c.asker_id == bindparam("asker_id"),
    )
)
OF_TENANT = Statement(
    some(
        questions.c.platform == bindparam("platform"),
        questions.c.tenant == bindparam("tenant"),
    )
)
OLD = Statement(
    some(questions.c.accepted_at < bindparam("before"), questions.c.closed_at.is_not(None))
)
DROP = Statement(delete(questions).where(questions.c.id == bindparam("question")))
HOLD = Statement(
    select(threads.c.channel_id, threads.c.thread_id)
    .where(threads.c.id == bindparam("in_thread"))
    .with_for_update()
)
LEFT = Statement(
    select(questions.c.id).where(questions.c.thread == bindparam("in_thread")).limit(1)
)
DROP_THREAD = Statement(delete(threads).where(threads.c.id == bindparam("in_thread")))
RECOUNT = Statement(
    update(sessions)
    .where(sessions.c.thread == bindparam("in_thread"))
    .values(
        turn_count=select(func.count())
        .select_from(turns)
        .where(turns.c.session == sessions.c.id)
        .scalar_subquery()
    )
)
THREADS_OF_TENANT = Statement(
    delete(threads).where(
        threads.c.platform == bindparam("platform"), threads.c.tenant == bindparam("tenant")
    )
)
USAGE_OF_TENANT = Statement(
    delete(schema.token_usage).where(
        schema.token_usage.c.platform == bindparam("platform"),
        schema.token_usage.c.tenant == bindparam("tenant"),
    )
)
INSTALLATION = Statement(
    delete(schema.installations).where(
        schema.installations.c.platform == bindparam("platform"),
        schema.installations.c.tenant == bindparam("tenant"),
    )
)
RATINGS = Statement(
    delete(feedback).where(
        feedback.c.asker_id == bindparam("asker_id"),
        select(answers.c.answer_id)
        .select_from(answers.join(questions))
        .where(
            answers.c.answer_id == feedback.c.answer_id,
            questions.c.platform == bindparam("platform"),
        )
        .exists(),
    )
)
NOTICES = Statement(
    delete(schema.notices).where(
        schema.notices.c.platform == bindparam("platform"),
        schema.notices.c.asker_id == bindparam("asker_id"),
    )
)


MARKERS = Statement(select(schema.markers.c.name))
DROP_MARKER = Statement(delete(schema.markers).where(schema.markers.c.name == bindparam("marker")))
ANSWERS = Statement(select(answers.c.answer_id).where(answers.c.question == bindparam("question")))


def ignore(question_id: UUID) -> None:
    """Nobody works on questions here."""


class Forgetting:
    """Nothing stays but keyed hashes of message ids, so that a repeat is not a new question."""

    def __init__(self, database: Database, *, stop_work: Callable[[UUID], None] = ignore) -> None:
        """`stop_work` ends an answer to a forgotten question that is being written here."""
        self._database = database
        self._stop_work = stop_work

    async def person(self, *, platform: Platform, asker_id: str) -> int:
        """Everything that one person asked, with the answers; how many questions that were."""
        named = {"platform": platform.value, "asker_id": asker_id}
        count = await self._all(OF_PERSON, **named)
        await forget_quoted(self._database, platform=platform.value, author=asker_id)
        await self._database.run(RATINGS, **named)
        await self._database.run(NOTICES, **named)
        await self._database.run(OF_AUTHOR, **named)
        await self._database.run(OF_KEEPER, **named)
        await self._drop_profiles(platform, lambda tenant, person: person == asker_id)
        await self._database.scrub()
        return count

    async def tenant(self, *, platform: Platform, tenant: TenantId) -> int:
        """A whole server or workspace, with the tokens that opened it."""
        named = {"platform": platform.value, "tenant": tenant}
        await self._database.run(INSTALLATION, **named)
        count = await self._all(OF_TENANT, **named)
        await self._database.run(THREADS_OF_TENANT, **named)
        await self._database.run(USAGE_OF_TENANT, **named)
        await self._database.run(STAFF_OF_TENANT, **named)
        await self._drop_profiles(platform, lambda place, person: place == tenant)
        await self._database.scrub()
        return count

    async def older_than(self, moment: datetime) -> int:
        """Ended questions that were accepted before then."""
        count = await self._all(OLD, before=to_time(moment))
        replies = await self._database.run(OLD_REPLIES, before=to_time(moment))
        if count or replies:
            await self._database.scrub()
        return count

    async def _all(self, wanted: Statement, **values: str) -> int:
        count = 0

        async def body(transaction: Transaction) -> Sequence[str]:
            found = await transaction.rows(wanted, **values, limit=AT_ONCE)
            await forget(transaction, found)
            return [row["id"] for row in found]

        while forgotten := await self._database.write(body):
            for question_id in forgotten:
                self._stop_work(UUID(question_id))
            count += len(forgotten)
        return count

    async def _drop_profiles(
        self, platform: Platform, is_meant: Callable[[str, str], bool]
    ) -> None:
        """What people said of themselves, which stands in markers `reader:platform:tenant:id`."""
        for row in await self._database.rows(MARKERS):
            kind, _, rest = row["name"].partition(":")
            where, _, rest = rest.partition(":")
            tenant, _, person = rest.partition(":")
            if (kind, where) == ("reader", platform.value) and is_meant(tenant, person):
                await self._database.run(DROP_MARKER, marker=row["name"])


async def forget(transaction: Transaction, found: Sequence[Row]) -> None:
    """Drop these questions with all that came of them, and threads that hold nothing else."""
    await remember_forgotten(transaction, map(identity_from_row, found))
    if not found:
        return
    about = {f"{row['channel_id']}:{row['message_id']}" for row in found}
    for row in found:
        about |= {each["answer_id"] for each in await transaction.rows(ANSWERS, question=row["id"])}
    gone: set[str] = set()
    for thread in dict.fromkeys(row["thread"] for row in found):
        held = await transaction.rows(HOLD, in_thread=thread)
        for row in found:
            if row["thread"] == thread:
                await transaction.rows(DROP, question=row["id"])
        if await transaction.rows(LEFT, in_thread=thread):
            await transaction.rows(RECOUNT, in_thread=thread)
            await unsay(transaction, thread)
            await go_on(transaction, thread)
        else:
            gone |= {f"{row['channel_id']}:{row['thread_id']}" for row in held}
            await transaction.rows(DROP_THREAD, in_thread=thread)
    await drop_markers(transaction, about, gone)


async def drop_markers(
    transaction: Transaction, about: Collection[str], threads_gone: Collection[str]
) -> None:
    """Drop the markers whose names end with one of these. That a thread has an answer of ours
    stays known as long as others have questions there, whoever began it."""
    for row in await transaction.rows(MARKERS):
        before, last = ["", *row["name"].split(":")][-2:]
        ends = {last, f"{before}:{last}"}
        is_thread = row["name"].startswith("answered:")
        if not ends.isdisjoint(threads_gone) or (not ends.isdisjoint(about) and not is_thread):
            await transaction.rows(DROP_MARKER, marker=row["name"])
