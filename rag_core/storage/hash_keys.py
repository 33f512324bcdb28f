"""The secrets that hashes are keyed with: the database's own, each made when it is first needed."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from sqlalchemy import bindparam, select

from rag_core.storage import schema
from rag_core.storage.engines.codec import to_time
from rag_core.storage.engines.engine import Database, Transaction
from rag_core.storage.engines.statement import Statement, insert_once

markers = schema.markers

KEY = Statement(select(markers.c.value).where(markers.c.name == bindparam("name")))
MAKE_KEY = insert_once(markers, returning="name")


async def known_key(stored: Database | Transaction, name: str) -> str | None:
    """None where nothing was hashed with it yet."""
    rows = await stored.rows(KEY, name=name)
    return str(rows[0]["value"]) if rows else None


async def made_key(transaction: Transaction, name: str) -> str:
    """Whoever comes second takes the first one's."""
    now = to_time(datetime.now(UTC))
    await transaction.rows(MAKE_KEY, name=name, value=secrets.token_hex(32), updated_at=now)
    return str((await transaction.rows(KEY, name=name))[0]["value"])
