"""Replies of the staff that may be kept as answers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

SORTED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TEXTS = (
    "question", "text", "author_id", "author", "link", "book_id", "modules",
)  # fmt: skip
TIMES = ("released_at", "said_at", "changed_at", "expires_at")
REST = ("keeping", "kept_by", "model", "vector")
MESSAGE = ("platform", "tenant", "channel_id", "message_id")


def upgrade() -> None:
    op.create_table(
        "staff_answers",
        sa.Column("id", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in MESSAGE),
        sa.Column("question_id", sa.Text()),
        *(sa.Column(name, sa.Text(), nullable=False) for name in TEXTS),
        *(sa.Column(name, SORTED, nullable=False) for name in TIMES),
        *(sa.Column(name, sa.Text(), nullable=False) for name in REST),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["questions.id"],
            name="fk_staff_answers_question_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_staff_answers"),
        sa.UniqueConstraint(*MESSAGE, name=f"uq_staff_answers_{'_'.join(MESSAGE)}"),
    )
    op.create_index("ix_staff_answers_question_id", "staff_answers", ["question_id"])
    for name in ("author_id", "said_at", "changed_at"):
        op.create_index(f"ix_staff_answers_{name}", "staff_answers", [name])
    op.create_index("ix_staff_answers_listed", "staff_answers", ["keeping", "said_at"])
    op.create_index("ix_staff_answers_found", "staff_answers", ["book_id", "keeping", "expires_at"])
