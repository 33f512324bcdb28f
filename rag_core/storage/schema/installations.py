"""Who let the app in, and the tickets that were used for it."""

from __future__ import annotations

from sqlalchemy import Column, Table, Text

from rag_core.storage.schema.base import SORTED, metadata

# The tokens are sealed: whoever reads the database alone reads none.
installations = Table(
    "installations",
    metadata,
    Column("platform", Text, primary_key=True),
    Column("tenant", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("sealed", Text, nullable=False),
    Column("updated_at", SORTED, nullable=False),
)

# What opens a door once, by its hash, for as long as it would open it.
used_tickets = Table(
    "used_tickets",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("until", SORTED, nullable=False, index=True),
)
