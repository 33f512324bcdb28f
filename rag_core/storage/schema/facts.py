"""Small facts that survive a restart."""

from __future__ import annotations

from sqlalchemy import Column, Table, Text

from rag_core.storage.schema.base import SORTED, metadata

markers = Table(
    "markers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("updated_at", SORTED, nullable=False),
)
