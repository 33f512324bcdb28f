"""What askers thought of answers, and what the books do not say."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Table, Text, text

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

# How an answered question is known again, and the earlier one that it repeats: hashes and a vector,
# which go with the question. A link ends with the earlier question.
repeats = Table(
    "repeats",
    metadata,
    Column("question", Text, parent("questions", "id"), primary_key=True),
    Column("place", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("vector", Text, nullable=False),
    Column("earlier", Text, ForeignKey("questions.id", ondelete="SET NULL"), index=True),
    Column("asked_at", SORTED, nullable=False),
)
Index("ix_repeats_place", repeats.c.place, repeats.c.asked_at)

UNHELPFUL = text("helpful IS false")
partial("ix_feedback_not_helpful", feedback.c.rated_at, only=UNHELPFUL)
