"""What the desk keeps beside the questions: turns, revisions, bounds, and what was forgotten."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

SORTED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
WAITS = sa.text("waiting_since IS NOT NULL")
CHANGED = sa.text("source_changed_at IS NOT NULL AND change_shown_at IS NULL")
TENANT = ["platform", "tenant"]


def upgrade() -> None:
    take_turns()
    revise_questions()
    mark_answers()
    create_bounds()
    create_forgotten()


def take_turns() -> None:
    op.add_column("threads", sa.Column("waiting_asker", sa.Text()))
    op.add_column("threads", sa.Column("tenant_turn", sa.Integer()))
    op.add_column("threads", sa.Column("asker_turn", sa.Integer()))
    # What waits already keeps its order.
    op.execute(
        "UPDATE threads SET tenant_turn = 0, asker_turn = 0, waiting_asker = ''"
        " WHERE waiting_since IS NOT NULL"
    )
    op.drop_index("ix_threads_waiting", "threads")
    partial("ix_threads_tenants", "threads", ["tenant_turn", "waiting_since"], WAITS)
    partial("ix_threads_tenant", "threads", [*TENANT, "tenant_turn"], WAITS)
    partial("ix_threads_askers", "threads", [*TENANT, "asker_turn", "waiting_since"], WAITS)
    partial("ix_threads_asker", "threads", [*TENANT, "waiting_asker", "asker_turn"], WAITS)


def revise_questions() -> None:
    for table in ("questions", "parts"):
        op.add_column(
            table, sa.Column("revision", sa.Integer(), nullable=False, server_default="0")
        )
    op.add_column("questions", sa.Column("withdrawn_at", SORTED))
    op.add_column("questions", sa.Column("told_at", SORTED))
    op.add_column("questions", sa.Column("refusal", sa.Text()))
    op.add_column("questions", sa.Column("rung", sa.Text()))
    op.create_index("ix_questions_accepted", "questions", ["accepted_at"])
    op.create_index("ix_questions_asker", "questions", ["platform", "asker_id", "accepted_at"])
    op.create_index("ix_questions_channel", "questions", [*TENANT, "channel_id", "accepted_at"])


def mark_answers() -> None:
    op.add_column("answers", sa.Column("source_changed_at", SORTED))
    op.add_column("answers", sa.Column("change_shown_at", SORTED))
    partial("ix_answers_changed", "answers", ["source_changed_at"], CHANGED)


def create_bounds() -> None:
    op.create_table(
        "token_usage",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("hour", SORTED, nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "tenant", "hour", name="pk_token_usage"),
    )
    op.create_table(
        "notices",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("asker_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("until", SORTED, nullable=False),
        sa.PrimaryKeyConstraint("platform", "asker_id", "kind", name="pk_notices"),
    )
    op.create_index("ix_notices_until", "notices", ["until"])


def create_forgotten() -> None:
    op.create_table(
        "forgotten",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("forgotten_at", SORTED, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_forgotten"),
    )
    op.create_index("ix_feedback_asker_id", "feedback", ["asker_id"])
    op.create_index("ix_forgotten_forgotten_at", "forgotten", ["forgotten_at"])


def partial(name: str, table: str, columns: list[str], only: sa.TextClause) -> None:
    op.create_index(name, table, columns, sqlite_where=only, postgresql_where=only)
