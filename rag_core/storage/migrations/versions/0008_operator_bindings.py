"""Who bound the books of a place, and with whom a staff answer is shared."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

POLICIES = sa.table(
    "policies",
    sa.column("platform", sa.Text),
    sa.column("tenant", sa.Text),
    sa.column("channel_id", sa.Text),
    sa.column("body", sa.Text),
)


def upgrade() -> None:
    op.add_column(
        "staff_answers", sa.Column("shared_with", sa.Text(), nullable=False, server_default="")
    )
    mark_bindings()


def mark_bindings() -> None:
    """What names no server or workspace was said by the operator. Who said the rest is not known:
    the operator binds it once more where it matters."""
    connection = op.get_bind()
    by_id_alone = sa.select(POLICIES).where(POLICIES.c.tenant == "")
    for row in connection.execute(by_id_alone).mappings().all():
        body = json.loads(row["body"])
        if not body.get("book_id"):
            continue
        body["operator_books"] = [body["book_id"], *body.get("further_books", [])]
        connection.execute(
            sa.update(POLICIES)
            .where(
                POLICIES.c.platform == row["platform"],
                POLICIES.c.tenant == "",
                POLICIES.c.channel_id == row["channel_id"],
            )
            .values(body=json.dumps(body))
        )
