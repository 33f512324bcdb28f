"""Installations: the workspaces that let the app in, and the tickets that were used for it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

SORTED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "installations",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("updated_at", SORTED, nullable=False),
        sa.PrimaryKeyConstraint("platform", "tenant", name="pk_installations"),
    )
    op.create_table(
        "used_tickets",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("until", SORTED, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_used_tickets"),
    )
    op.create_index("ix_used_tickets_until", "used_tickets", ["until"])
