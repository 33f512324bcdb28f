"""Threads, their sessions, and whose turn it is."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, Table, Text, UniqueConstraint

from rag_core.storage.schema.base import SORTED, metadata, parent, partial

threads = Table(
    "threads",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("platform", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("channel_id", Text, nullable=False),
    Column("thread_id", Text, nullable=False),
    Column("updated_at", SORTED, nullable=False),
    Column("archived_at", SORTED),
    # Work in this thread: its oldest open question, and the one claim that it can have.
    Column("waiting_since", SORTED),
    Column("worker", Text),
    Column("lease_until", SORTED),
    Column("claimed", Text),
    # Whose turn it is: this thread's place among tenants, and among its tenant's askers.
    Column("waiting_asker", Text),
    Column("tenant_turn", Integer),
    Column("asker_turn", Integer),
    UniqueConstraint("platform", "tenant", "channel_id", "thread_id"),
)
Index(
    "ix_threads_recent",
    threads.c.platform,
    threads.c.tenant,
    threads.c.channel_id,
    threads.c.updated_at,
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("thread", Integer, parent("threads", "id"), nullable=False),
    Column("session_id", Text, nullable=False, unique=True),
    Column("number", Integer, nullable=False),
    Column("model", Text, nullable=False),
    Column("turn_count", Integer, nullable=False),
    Column("topic_summary", Text, nullable=False),
    Column("metadata", Text, nullable=False),
    Column("created_at", SORTED, nullable=False),
    Column("closed_at", SORTED),
    UniqueConstraint("thread", "number"),
)

partial("ix_threads_idle", threads.c.updated_at, only=threads.c.archived_at.is_(None))
WAITS = threads.c.waiting_since.is_not(None)
partial("ix_threads_tenants", threads.c.tenant_turn, threads.c.waiting_since, only=WAITS)
TENANT = (threads.c.platform, threads.c.tenant)
partial("ix_threads_tenant", *TENANT, threads.c.tenant_turn, only=WAITS)
partial("ix_threads_askers", *TENANT, threads.c.asker_turn, threads.c.waiting_since, only=WAITS)
partial("ix_threads_asker", *TENANT, threads.c.waiting_asker, threads.c.asker_turn, only=WAITS)
partial("ix_threads_worker", threads.c.worker, only=threads.c.worker.is_not(None))
partial("uq_sessions_open", sessions.c.thread, unique=True, only=sessions.c.closed_at.is_(None))
