"""Gaps: the questions in vain, and the groups that they were placed in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

SORTED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "gaps",
        sa.Column("gap_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("changed_at", SORTED, nullable=False),
        sa.PrimaryKeyConstraint("gap_id", name="pk_gaps"),
    )
    op.create_table(
        "gap_questions",
        sa.Column("answer_id", sa.Text(), nullable=False),
        sa.Column("gap_id", sa.Text()),
        sa.Column("asked_at", SORTED, nullable=False),
        sa.Column("closeness", sa.Float(), nullable=False),
        sa.Column("vector", sa.Text(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["answer_id"],
            ["answers.answer_id"],
            name="fk_gap_questions_answer_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["gap_id"], ["gaps.gap_id"], name="fk_gap_questions_gap_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("answer_id", name="pk_gap_questions"),
    )
    op.create_index("ix_gap_questions_asked_at", "gap_questions", ["asked_at"])
    op.create_index("ix_gap_questions_gap", "gap_questions", ["gap_id", "closeness"])
    in_vain = sa.text("outcome IN ('no_results', 'low_confidence')")
    partial("ix_answers_in_vain", "answers", "created_at", only=in_vain)
    partial("ix_feedback_not_helpful", "feedback", "rated_at", only=sa.text("helpful IS false"))
    op.create_index("ix_questions_accepted_at", "questions", ["accepted_at"])


def partial(name: str, table: str, column: str, *, only: sa.TextClause) -> None:
    op.create_index(name, table, [column], sqlite_where=only, postgresql_where=only)
