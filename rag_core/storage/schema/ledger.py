"""Questions, their turns, answers and outgoing parts."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
)

from rag_core.storage.schema.base import SORTED, metadata, parent, partial

questions = Table(
    "questions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("thread", Integer, parent("threads", "id"), nullable=False),
    Column("platform", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("channel_id", Text, nullable=False),
    Column("message_id", Text, nullable=False),
    Column("asker_id", Text, nullable=False),
    Column("position", SORTED, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("accepted_at", SORTED, nullable=False, index=True),
    Column("settled_at", SORTED),
    Column("closed_at", SORTED),
    Column("delivered", Boolean),
    # Counts what the asker did to the question afterwards: edits, withdrawal, asking again.
    Column("revision", Integer, nullable=False, server_default="0"),
    Column("withdrawn_at", SORTED),
    Column("told_at", SORTED),
    Column("refusal", Text),
    Column("rung", Text),
    UniqueConstraint("platform", "tenant", "channel_id", "message_id"),
)
Index("ix_questions_thread", questions.c.thread, questions.c.position)
Index("ix_questions_accepted", questions.c.accepted_at)
Index("ix_questions_asker", questions.c.platform, questions.c.asker_id, questions.c.accepted_at)
Index(
    "ix_questions_channel",
    questions.c.platform,
    questions.c.tenant,
    questions.c.channel_id,
    questions.c.accepted_at,
)

turns = Table(
    "turns",
    metadata,
    Column("session", Integer, parent("sessions", "id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("question", Text, parent("questions", "id"), nullable=False, unique=True),
    Column("messages", Text, nullable=False),
    Column("retrievals", Text, nullable=False),
    Column("created_at", SORTED, nullable=False),
)

answers = Table(
    "answers",
    metadata,
    Column("answer_id", Text, primary_key=True),
    Column("question", Text, parent("questions", "id"), nullable=False, unique=True),
    Column("session_id", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("confidence_level", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("tokens_used", Integer, nullable=False),
    Column("created_at", SORTED, nullable=False),
    Column("body", Text, nullable=False),
    # When a source of it changed, and when its messages said so.
    Column("source_changed_at", SORTED),
    Column("change_shown_at", SORTED),
)

citations = Table(
    "citations",
    metadata,
    Column("answer_id", Text, parent("answers", "answer_id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("page_title", Text, nullable=False),
    Column("section_heading", Text, nullable=False),
    Column("module", Text),
    Column("page_url", Text),
    Column("chunk_id", Text, nullable=False, index=True),
    Column("content_hash", Text, nullable=False),
    Column("quote", Text, nullable=False),
)

parts = Table(
    "parts",
    metadata,
    Column("question", Text, parent("questions", "id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("payload", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("external_id", Text),
    Column("revision", Integer, nullable=False, server_default="0"),
)

partial(
    "ix_questions_open",
    questions.c.closed_at,  # always null here: named so that planners prefer this small index
    questions.c.thread,
    questions.c.position,
    only=questions.c.closed_at.is_(None),
)
partial(
    "ix_answers_changed",
    answers.c.source_changed_at,
    only=answers.c.source_changed_at.is_not(None) & answers.c.change_shown_at.is_(None),
)
# Written out in full: a planner takes a partial index only where its condition is plain to see.
IN_VAIN = answers.c.outcome.in_(
    [literal_column("'no_results'"), literal_column("'low_confidence'")]
)
partial(
    "ix_answers_in_vain",
    answers.c.created_at,
    only=IN_VAIN,
)
