"""Replies of the staff that may be kept as answers."""

from __future__ import annotations

from sqlalchemy import Column, Index, Table, Text, UniqueConstraint

from rag_core.storage.schema.base import SORTED, metadata, parent

staff_answers = Table(
    "staff_answers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("platform", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("channel_id", Text, nullable=False),
    Column("message_id", Text, nullable=False),
    # Whoever is forgotten with the question takes this along.
    Column("question_id", Text, parent("questions", "id"), index=True),
    Column("question", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("author_id", Text, nullable=False, index=True),
    Column("author", Text, nullable=False),
    Column("link", Text, nullable=False),
    Column("book_id", Text, nullable=False),
    Column("modules", Text, nullable=False),
    Column("released_at", SORTED, nullable=False),
    Column("said_at", SORTED, nullable=False, index=True),
    Column("changed_at", SORTED, nullable=False, index=True),
    Column("expires_at", SORTED, nullable=False),
    Column("keeping", Text, nullable=False),
    # Names of places, each between spaces.
    Column("shared_with", Text, nullable=False, server_default=""),
    Column("kept_by", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("vector", Text, nullable=False),
    UniqueConstraint("platform", "tenant", "channel_id", "message_id"),
)
Index(
    "ix_staff_answers_found",
    staff_answers.c.book_id,
    staff_answers.c.keeping,
    staff_answers.c.expires_at,
)
Index("ix_staff_answers_listed", staff_answers.c.keeping, staff_answers.c.said_at)
