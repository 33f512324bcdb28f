"""Replies of the staff that may be kept, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import (
    ColumnElement,
    Integer,
    Text,
    and_,
    bindparam,
    delete,
    literal,
    or_,
    select,
    update,
)

from rag_core.agent.answer import Outcome
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.conversation.key import ConversationKey, Platform
from rag_core.desk.incoming import MessageIdentity
from rag_core.staff.answer import EVERYWHERE, Keeping, Refused, StaffAnswer
from rag_core.storage import schema
from rag_core.storage.conversations.threads import has_key, key_to_row
from rag_core.storage.engines.codec import (
    from_json,
    from_time,
    question_from_json,
    to_json,
    to_time,
)
from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement, insert_once
from rag_core.storage.messages import has_identity, identity_from_row, identity_to_row
from rag_core.storage.vector_text import vector_from_text, vector_to_text

kept, questions, threads = schema.staff_answers, schema.questions, schema.threads
answers = schema.answers

MOST = 500
"""Kept answers of one book that a search looks at, the newest first."""
MODULES = TypeAdapter(tuple[str, ...])
CHANGING = (
    "text", "changed_at", "expires_at", "keeping", "shared_with", "kept_by", "model", "vector",
)  # fmt: skip

ADD = insert_once(kept, returning="id")
SAVE = Statement(
    update(kept)
    .where(kept.c.id == bindparam("of"))
    .values({name: bindparam(name) for name in CHANGING})
)
GET = Statement(select(kept).where(kept.c.id == bindparam("of")))
AT = Statement(select(kept).where(has_identity(kept)))
STANDS = and_(kept.c.keeping == Keeping.KEPT.value, kept.c.expires_at > bindparam("now"))
IS_THE_OPERATORS = kept.c.platform == Platform.WEB.value
IS_SHARED = or_(
    kept.c.shared_with.contains(literal(f" {EVERYWHERE} ", Text)),
    kept.c.shared_with.contains(bindparam("name", type_=Text)),
)
IS_OF_THE_PLACE = and_(
    kept.c.tenant == bindparam("tenant"), kept.c.platform == bindparam("platform")
)


def found_where(is_for_audience: ColumnElement[bool]) -> Statement:
    """The answers of one book that an audience may find."""
    return Statement(
        select(kept)
        .where(kept.c.book_id == bindparam("book_id"), STANDS, is_for_audience)
        .order_by(kept.c.expires_at.desc())
        .limit(bindparam("at_most", type_=Integer))
    )


FOUND = found_where(or_(IS_THE_OPERATORS, IS_SHARED))
FOUND_WHERE_BOUND = found_where(or_(IS_THE_OPERATORS, IS_SHARED, IS_OF_THE_PLACE))
STANDING = Statement(select(kept).where(STANDS))
SAVE_VECTOR = Statement(
    update(kept)
    .where(kept.c.id == bindparam("of"), kept.c.text == bindparam("same"))
    .values(model=bindparam("model"), vector=bindparam("vector"))
)
ALL = Statement(
    select(kept)
    .where(kept.c.keeping == Keeping.KEPT.value)
    .order_by(kept.c.said_at.desc())
    .limit(bindparam("at_most", type_=Integer))
)
DROP_UNKEPT = Statement(
    delete(kept)
    .where(kept.c.keeping != Keeping.KEPT.value, kept.c.changed_at < bindparam("before"))
    .returning(kept.c.id)
)
NEWEST = Statement(
    select(questions.c.id, questions.c.asker_id, questions.c.body, answers.c.outcome)
    .select_from(questions.join(threads).join(answers))
    .where(has_key(), questions.c.withdrawn_at.is_(None))
    .order_by(questions.c.position.desc(), questions.c.accepted_at.desc())
    .limit(1)
)
OF_AUTHOR = Statement(
    delete(kept).where(
        kept.c.platform == bindparam("platform"), kept.c.author_id == bindparam("asker_id")
    )
)
OF_KEEPER = Statement(
    update(kept)
    .where(kept.c.platform == bindparam("platform"), kept.c.kept_by == bindparam("asker_id"))
    .values(kept_by="")
)
OF_TENANT = Statement(
    delete(kept).where(
        kept.c.platform == bindparam("platform"), kept.c.tenant == bindparam("tenant")
    )
)
OLD = Statement(delete(kept).where(kept.c.said_at < bindparam("before")).returning(kept.c.id))
OF_BOOK = Statement(delete(kept).where(kept.c.book_id == bindparam("book_id")))


class StaffAnswers:
    """By id, by message and by book."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def refused_in(self, key: ConversationKey) -> Refused | None:
        rows = await self._database.rows(NEWEST, **key_to_row(key))
        if not rows or rows[0]["outcome"] != Outcome.NO_RESULTS.value:
            return None
        return Refused(
            question_id=UUID(rows[0]["id"]),
            asker_id=rows[0]["asker_id"],
            question=question_from_json(rows[0]["body"]).question.message,
        )

    async def add(self, answer: StaffAnswer) -> None:
        await self._database.run(ADD, **fixed_row(answer), **changing_row(answer))

    async def save(self, answer: StaffAnswer) -> None:
        await self._database.run(SAVE, of=str(answer.id), **changing_row(answer))

    async def get(self, answer_id: UUID) -> StaffAnswer | None:
        rows = await self._database.rows(GET, of=str(answer_id))
        return answer_from_row(rows[0]) if rows else None

    async def at(self, identity: MessageIdentity) -> StaffAnswer | None:
        rows = await self._database.rows(AT, **identity_to_row(identity))
        return answer_from_row(rows[0]) if rows else None

    async def save_vector(self, answer: StaffAnswer) -> None:
        await self._database.run(
            SAVE_VECTOR,
            of=str(answer.id),
            same=answer.text,
            model=answer.model,
            vector=vector_to_text(answer.vector),
        )

    async def found_in(
        self, books: BookIds, *, audience: Audience, now: datetime
    ) -> Sequence[StaffAnswer]:
        place = {"platform": audience.platform.value, "tenant": audience.tenant}
        found: list[StaffAnswer] = []
        for book_id in books:
            bound = book_id in audience.bound_books
            rows = await self._database.rows(
                FOUND_WHERE_BOUND if bound else FOUND,
                book_id=book_id,
                name=f" {audience.name} ",
                now=to_time(now),
                at_most=MOST,
                **(place if bound else {}),
            )
            found += map(answer_from_row, rows)
        return found

    async def standing(self, *, now: datetime) -> Sequence[StaffAnswer]:
        return [
            answer_from_row(row) for row in await self._database.rows(STANDING, now=to_time(now))
        ]

    async def all(self) -> Sequence[StaffAnswer]:
        return [answer_from_row(row) for row in await self._database.rows(ALL, at_most=MOST)]

    async def drop_before(self, moment: datetime) -> int:
        return len(await self._database.run(DROP_UNKEPT, before=to_time(moment)))


async def drop_of_book(transaction: Transaction, book_id: str) -> None:
    await transaction.rows(OF_BOOK, book_id=book_id)


def fixed_row(answer: StaffAnswer) -> dict[str, Any]:
    return {
        "id": str(answer.id),
        **identity_to_row(answer.identity),
        "question_id": str(answer.question_id) if answer.question_id else None,
        "question": answer.question,
        "author_id": answer.author_id,
        "author": answer.author,
        "link": answer.link,
        "book_id": answer.book_id,
        "modules": to_json(MODULES, answer.modules),
        "released_at": to_time(answer.released_at),
        "said_at": to_time(answer.said_at),
    }


def changing_row(answer: StaffAnswer) -> dict[str, Any]:
    return {
        "text": answer.text,
        "changed_at": to_time(answer.changed_at),
        "expires_at": to_time(answer.expires_at),
        "keeping": answer.keeping.value,
        "shared_with": "".join(f" {name} " for name in answer.shared_with),
        "kept_by": answer.kept_by,
        "model": answer.model,
        "vector": vector_to_text(answer.vector),
    }


def answer_from_row(row: Row) -> StaffAnswer:
    return StaffAnswer(
        id=UUID(row["id"]),
        identity=identity_from_row(row),
        question_id=UUID(row["question_id"]) if row["question_id"] else None,
        question=row["question"],
        text=row["text"],
        author_id=row["author_id"],
        author=row["author"],
        link=row["link"],
        book_id=row["book_id"],
        modules=from_json(MODULES, row["modules"]),
        released_at=from_time(row["released_at"]),
        said_at=from_time(row["said_at"]),
        changed_at=from_time(row["changed_at"]),
        expires_at=from_time(row["expires_at"]),
        keeping=Keeping(row["keeping"]),
        shared_with=tuple(row["shared_with"].split()),
        kept_by=row["kept_by"],
        model=row["model"],
        vector=vector_from_text(row["vector"]),
    )
