"""What every table that names a message says about it."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Table, and_, bindparam

from rag_core.desk.incoming import MessageIdentity
from rag_core.storage.engines.engine import Row

IDENTITY = ("platform", "tenant", "channel_id", "message_id")


def has_identity(table: Table) -> ColumnElement[bool]:
    """The condition that finds a row by its message."""
    return and_(*(table.c[name] == bindparam(name) for name in IDENTITY))


def identity_to_row(identity: MessageIdentity) -> dict[str, str]:
    return {name: getattr(identity, name) for name in IDENTITY}


def identity_from_row(row: Row) -> MessageIdentity:
    return MessageIdentity(**{name: row[name] for name in IDENTITY})
