"""What conversations and the ledger both say about a thread's row."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, select

from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.storage import schema
from rag_core.storage.engines.engine import Row

KEY = ("platform", "tenant", "channel_id", "thread_id")
IDLE: dict[str, Any] = {
    "archived_at": None,
    "waiting_since": None,
    "worker": None,
    "lease_until": None,
    "claimed": None,
    "waiting_asker": None,
    "tenant_turn": None,
    "asker_turn": None,
}
"""A thread in which nothing waits and nobody works."""


THREAD_OF_QUESTION = (
    select(schema.questions.c.thread)
    .where(schema.questions.c.id == bindparam("question"))
    .scalar_subquery()
)


def has_key() -> ColumnElement[bool]:
    """The condition that finds a thread by its key."""
    return and_(*(schema.threads.c[name] == bindparam(name) for name in KEY))


def key_to_row(key: ConversationKey) -> dict[str, str]:
    return {
        "platform": key.platform.value,
        "tenant": key.tenant,
        "channel_id": key.channel_id,
        "thread_id": key.thread_id,
    }


def key_from_row(row: Row) -> ConversationKey:
    return ConversationKey(
        platform=Platform(row["platform"]),
        tenant=TenantId(row["tenant"]),
        channel_id=row["channel_id"],
        thread_id=row["thread_id"],
    )
