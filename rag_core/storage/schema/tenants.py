"""Servers and workspaces that were met, and what was decided about them."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Table, Text

from rag_core.storage.schema.base import SORTED, metadata

tenants = Table(
    "tenants",
    metadata,
    Column("platform", Text, primary_key=True),
    Column("tenant", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("trust", Text, nullable=False),
    Column("since", SORTED, nullable=False),
    Column("is_told", Boolean, nullable=False),
)
