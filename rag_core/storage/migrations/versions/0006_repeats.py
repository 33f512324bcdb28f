"""Questions that repeat earlier ones: how they are known again, without their words."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

SORTED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "repeats",
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("vector", sa.Text(), nullable=False),
        sa.Column("earlier", sa.Text()),
        sa.Column("asked_at", SORTED, nullable=False),
        sa.ForeignKeyConstraint(
            ["question"], ["questions.id"], name="fk_repeats_question", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["earlier"], ["questions.id"], name="fk_repeats_earlier", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("question", name="pk_repeats"),
    )
    op.create_index("ix_repeats_earlier", "repeats", ["earlier"])
    op.create_index("ix_repeats_place", "repeats", ["place", "asked_at"])
