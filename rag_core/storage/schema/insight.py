"""What askers thought of answers, and what the books do not say."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Table, Text, text

from rag_core.storage.schema.base import SORTED, metadata, parent, partial

feedback = Table(
    "feedback",
    metadata,
    Column("answer_id", Text, parent("answers", "answer_id"), primary_key=True),
    Column("asker_id", Text, primary_key=True, index=True),
    Column("helpful", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Column("rated_at", SORTED, nullable=False),
)

gaps = Table(
    "gaps",
    metadata,
    Column("gap_id", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("changed_at", SORTED, nullable=False),
)

# Which gap a question in vain belongs to; without one it was looked at and is none. Its words
# stand with its answer alone, so that nothing of a deleted thread is left here.
gap_questions = Table(
    "gap_questions",
    metadata,
    Column("answer_id", Text, parent("answers", "answer_id"), primary_key=True),
    Column("gap_id", Text, parent("gaps", "gap_id")),
    Column("asked_at", SORTED, nullable=False, index=True),
    Column("closeness", Float, nullable=False),
    Column("vector", Text, nullable=False),
    Column("terms", Text, nullable=False),
)
Index("ix_gap_questions_gap", gap_questions.c.gap_id, gap_questions.c.closeness)

UNHELPFUL = text("helpful IS false")
partial("ix_feedback_not_helpful", feedback.c.rated_at, only=UNHELPFUL)
