"""Places have policies; a channel's book becomes a part of its policy."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
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
