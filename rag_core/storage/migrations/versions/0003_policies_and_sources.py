"""Places have policies, of which a channel's book becomes a part; books have sources."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


SORTED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    create_sources()
    create_policies()


def create_sources() -> None:
    op.create_table(
        "sources",
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("book_id", sa.Text(), nullable=False),
        sa.Column("location", sa.Text(), nullable=False),
        sa.Column("next_at", SORTED),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("source_id", name="pk_sources"),
        sa.UniqueConstraint("book_id", "location", name="uq_sources_book_id_location"),
    )


def create_policies() -> None:
    policies = op.create_table(
        "policies",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "channel_id", "tenant", name="pk_policies"),
    )
    bindings = sa.text("SELECT platform, tenant, channel_id, book_id FROM bindings")
    rows = [
        {
            "platform": row.platform,
            "tenant": row.tenant,
            "channel_id": row.channel_id,
            "body": json.dumps({"book_id": row.book_id}),
        }
        for row in op.get_bind().execute(bindings)
    ]
    op.bulk_insert(policies, rows)
    op.drop_table("bindings")
