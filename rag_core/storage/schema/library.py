"""Books, where they are read, where they come from, and how they were read in."""

from __future__ import annotations

from sqlalchemy import Column, Integer, Table, Text, UniqueConstraint

from rag_core.storage.schema.base import SORTED, metadata, partial

books = Table(
    "books",
    metadata,
    Column("book_id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("files", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("embedding_model", Text, nullable=False),
    Column("base_url", Text, nullable=False),
    Column("last_full_ingest", SORTED),
    Column("last_incremental_update", SORTED),
)

policies = Table(
    "policies",
    metadata,
    Column("platform", Text, primary_key=True),
    Column("channel_id", Text, primary_key=True),
    Column("tenant", Text, primary_key=True),
    Column("body", Text, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("source_id", Text, primary_key=True),
    Column("book_id", Text, nullable=False),
    Column("location", Text, nullable=False),
    Column("next_at", SORTED),
    Column("body", Text, nullable=False),
    UniqueConstraint("book_id", "location"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("book_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("started_at", SORTED, nullable=False, index=True),
    Column("completed_at", SORTED),
    Column("body", Text, nullable=False),
)

ingestion_records = Table(
    "ingestion_records",
    metadata,
    Column("book_id", Text, primary_key=True),
    Column("source_file", Text, primary_key=True),
    Column("file_hash", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("source", Text, nullable=False),
    Column("chunk_ids", Text, nullable=False),
    Column("ingested_at", SORTED, nullable=False),
    Column("module", Text),
    Column("chapter", Integer),
    Column("lesson", Integer),
)

partial("ix_jobs_unfinished", jobs.c.started_at, only=jobs.c.completed_at.is_(None))
