"""Runs migrations inside the transaction that the caller has begun."""

from __future__ import annotations

from alembic import context

from rag_core.storage.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
