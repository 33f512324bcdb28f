"""The sources of the books."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import bindparam, delete, select, update

from rag_core.books.source import BookSource
from rag_core.storage import schema
from rag_core.storage.engines.codec import SOURCE, from_json, maybe_time, to_json, to_time
from rag_core.storage.engines.engine import Database, Row
from rag_core.storage.engines.statement import Statement, insert_once

sources = schema.sources
ONE = sources.c.source_id == bindparam("source_id")
ADD = insert_once(sources, returning="source_id")
ALL = Statement(select(sources).order_by(sources.c.book_id, sources.c.location))
GET = Statement(select(sources).where(ONE))
UPDATE = Statement(
    update(sources)
    .where(sources.c.source_id == bindparam("which"))
    .values(body=bindparam("new_body"))
)
CLAIM = Statement(
    update(sources)
    .where(
        sources.c.source_id == bindparam("which"),
        sources.c.next_at == bindparam("due"),
    )
    .values(next_at=bindparam("then"))
    .returning(sources.c.source_id)
)
REMOVE = Statement(delete(sources).where(ONE).returning(sources.c.source_id))


class Sources:
    """Sources by id; a book has each location once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, source: BookSource) -> bool:
        rows = await self._database.run(
            ADD,
            source_id=str(source.source_id),
            book_id=source.book_id,
            location=source.location,
            next_at=to_time(source.next_at) if source.next_at else None,
            body=to_json(SOURCE, source),
        )
        return bool(rows)

    async def get(self, source_id: UUID) -> BookSource | None:
        rows = await self._database.rows(GET, source_id=str(source_id))
        return source_from_row(rows[0]) if rows else None

    async def all(self) -> Sequence[BookSource]:
        return [source_from_row(row) for row in await self._database.rows(ALL)]

    async def update(self, source: BookSource) -> None:
        await self._database.run(
            UPDATE, which=str(source.source_id), new_body=to_json(SOURCE, source)
        )

    async def claim(self, source: BookSource, *, then: datetime | None) -> bool:
        """Move a due source to its next time, if it has one; False: another process was first."""
        if source.next_at is None:
            return False
        rows = await self._database.run(
            CLAIM,
            which=str(source.source_id),
            due=to_time(source.next_at),
            then=to_time(then) if then else None,
        )
        return bool(rows)

    async def remove(self, source_id: UUID) -> bool:
        return bool(await self._database.run(REMOVE, source_id=str(source_id)))


def source_from_row(row: Row) -> BookSource:
    """A source; its next time has a column of its own, which alone is kept up."""
    return replace(from_json(SOURCE, row["body"]), next_at=maybe_time(row["next_at"]))
