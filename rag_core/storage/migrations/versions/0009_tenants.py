"""Servers and workspaces that were met, and what was decided about them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

SORTED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "tenants",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("trust", sa.Text(), nullable=False),
        sa.Column("since", SORTED, nullable=False),
        sa.Column("is_told", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "tenant", name="pk_tenants"),
    )
