"""What was used of the limits, who was told, and what was forgotten."""

from __future__ import annotations

from sqlalchemy import Column, Integer, Table, Text

from rag_core.storage.schema.base import SORTED, metadata

token_usage = Table(
    "token_usage",
    metadata,
    Column("platform", Text, primary_key=True),
    Column("tenant", Text, primary_key=True),
    Column("hour", SORTED, primary_key=True),
    Column("tokens", Integer, nullable=False),
)

notices = Table(
    "notices",
    metadata,
    Column("platform", Text, primary_key=True),
    Column("asker_id", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("until", SORTED, nullable=False, index=True),
)

forgotten = Table(
    "forgotten",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("forgotten_at", SORTED, nullable=False, index=True),
)
