"""Small facts that must survive a restart, by name."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import bindparam, select

from rag_core.storage import schema
from rag_core.storage.engines.codec import to_time
from rag_core.storage.engines.engine import Database
from rag_core.storage.engines.statement import Statement, upsert

markers = schema.markers
GET = Statement(select(markers.c.value).where(markers.c.name == bindparam("name")))
SET = upsert(markers, on=("name",))


class Markers:
    """High-water marks, gateway sessions, hashes of what was registered."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, name: str) -> str | None:
        rows = await self._database.rows(GET, name=name)
        return rows[0]["value"] if rows else None

    async def set(self, name: str, value: str) -> None:
        await self._database.run(SET, name=name, value=value, updated_at=to_time(datetime.now(UTC)))
