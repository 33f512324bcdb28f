"""The first schema: threads, questions, answers, books, jobs and markers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

SORTED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    create_bindings()
    create_books()
    create_ingestion_records()
    create_jobs()
    create_markers()
    create_threads()
    create_questions()
    create_sessions()
    create_answers()
    create_parts()
    create_turns()
    create_citations()
    create_feedback()


def create_bindings() -> None:
    op.create_table(
        "bindings",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("book_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "tenant", "channel_id", name="pk_bindings"),
    )


def create_books() -> None:
    op.create_table(
        "books",
        sa.Column("book_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("embedding_model", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=False),
        sa.Column("last_full_ingest", SORTED),
        sa.Column("last_incremental_update", SORTED),
        sa.PrimaryKeyConstraint("book_id", name="pk_books"),
    )


def create_ingestion_records() -> None:
    op.create_table(
        "ingestion_records",
        sa.Column("book_id", sa.Text(), nullable=False),
        sa.Column("source_file", sa.Text(), nullable=False),
        sa.Column("file_hash", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("chunk_ids", sa.Text(), nullable=False),
        sa.Column("ingested_at", SORTED, nullable=False),
        sa.Column("module", sa.Text()),
        sa.Column("chapter", sa.Integer()),
        sa.Column("lesson", sa.Integer()),
        sa.PrimaryKeyConstraint("book_id", "source_file", name="pk_ingestion_records"),
    )


def create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("book_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("started_at", SORTED, nullable=False),
        sa.Column("completed_at", SORTED),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("job_id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_started_at", "jobs", ["started_at"])
    op.create_index(
        "ix_jobs_unfinished",
        "jobs",
        ["started_at"],
        sqlite_where=sa.text("completed_at IS NULL"),
        postgresql_where=sa.text("completed_at IS NULL"),
    )


def create_markers() -> None:
    op.create_table(
        "markers",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated_at", SORTED, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_markers"),
    )


def create_threads() -> None:
    op.create_table(
        "threads",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("updated_at", SORTED, nullable=False),
        sa.Column("archived_at", SORTED),
        sa.Column("waiting_since", SORTED),
        sa.Column("worker", sa.Text()),
        sa.Column("lease_until", SORTED),
        sa.Column("claimed", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_threads"),
        sa.UniqueConstraint(
            "platform",
            "tenant",
            "channel_id",
            "thread_id",
            name="uq_threads_platform_tenant_channel_id_thread_id",
        ),
    )
    op.create_index(
        "ix_threads_idle",
        "threads",
        ["updated_at"],
        sqlite_where=sa.text("archived_at IS NULL"),
        postgresql_where=sa.text("archived_at IS NULL"),
    )
    op.create_index(
        "ix_threads_recent", "threads", ["platform", "tenant", "channel_id", "updated_at"]
    )
    op.create_index(
        "ix_threads_waiting",
        "threads",
        ["waiting_since"],
        sqlite_where=sa.text("waiting_since IS NOT NULL"),
        postgresql_where=sa.text("waiting_since IS NOT NULL"),
    )
    op.create_index(
        "ix_threads_worker",
        "threads",
        ["worker"],
        sqlite_where=sa.text("worker IS NOT NULL"),
        postgresql_where=sa.text("worker IS NOT NULL"),
    )


def create_questions() -> None:
    op.create_table(
        "questions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("thread", sa.Integer(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("asker_id", sa.Text(), nullable=False),
        sa.Column("position", SORTED, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("accepted_at", SORTED, nullable=False),
        sa.Column("settled_at", SORTED),
        sa.Column("closed_at", SORTED),
        sa.Column("delivered", sa.Boolean()),
        sa.ForeignKeyConstraint(
            ["thread"], ["threads.id"], name="fk_questions_thread", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_questions"),
        sa.UniqueConstraint(
            "platform",
            "tenant",
            "channel_id",
            "message_id",
            name="uq_questions_platform_tenant_channel_id_message_id",
        ),
    )
    op.create_index(
        "ix_questions_open",
        "questions",
        ["closed_at", "thread", "position"],
        sqlite_where=sa.text("closed_at IS NULL"),
        postgresql_where=sa.text("closed_at IS NULL"),
    )
    op.create_index("ix_questions_thread", "questions", ["thread", "position"])


def create_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("thread", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("turn_count", sa.Integer(), nullable=False),
        sa.Column("topic_summary", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("created_at", SORTED, nullable=False),
        sa.Column("closed_at", SORTED),
        sa.ForeignKeyConstraint(
            ["thread"], ["threads.id"], name="fk_sessions_thread", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.UniqueConstraint("session_id", name="uq_sessions_session_id"),
        sa.UniqueConstraint("thread", "number", name="uq_sessions_thread_number"),
    )
    op.create_index(
        "uq_sessions_open",
        "sessions",
        ["thread"],
        unique=True,
        sqlite_where=sa.text("closed_at IS NULL"),
        postgresql_where=sa.text("closed_at IS NULL"),
    )


def create_answers() -> None:
    op.create_table(
        "answers",
        sa.Column("answer_id", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("confidence_level", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("tokens_used", sa.Integer(), nullable=False),
        sa.Column("created_at", SORTED, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question"], ["questions.id"], name="fk_answers_question", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("answer_id", name="pk_answers"),
        sa.UniqueConstraint("question", name="uq_answers_question"),
    )


def create_parts() -> None:
    op.create_table(
        "parts",
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text()),
        sa.ForeignKeyConstraint(
            ["question"], ["questions.id"], name="fk_parts_question", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("question", "number", name="pk_parts"),
    )


def create_turns() -> None:
    op.create_table(
        "turns",
        sa.Column("session", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("messages", sa.Text(), nullable=False),
        sa.Column("retrievals", sa.Text(), nullable=False),
        sa.Column("created_at", SORTED, nullable=False),
        sa.ForeignKeyConstraint(
            ["question"], ["questions.id"], name="fk_turns_question", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["session"], ["sessions.id"], name="fk_turns_session", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session", "number", name="pk_turns"),
        sa.UniqueConstraint("question", name="uq_turns_question"),
    )


def create_citations() -> None:
    op.create_table(
        "citations",
        sa.Column("answer_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("page_title", sa.Text(), nullable=False),
        sa.Column("section_heading", sa.Text(), nullable=False),
        sa.Column("module", sa.Text()),
        sa.Column("page_url", sa.Text()),
        sa.Column("chunk_id", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["answer_id"], ["answers.answer_id"], name="fk_citations_answer_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("answer_id", "number", name="pk_citations"),
    )
    op.create_index("ix_citations_chunk_id", "citations", ["chunk_id"])


def create_feedback() -> None:
    op.create_table(
        "feedback",
        sa.Column("answer_id", sa.Text(), nullable=False),
        sa.Column("asker_id", sa.Text(), nullable=False),
        sa.Column("helpful", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("rated_at", SORTED, nullable=False),
        sa.ForeignKeyConstraint(
            ["answer_id"], ["answers.answer_id"], name="fk_feedback_answer_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("answer_id", "asker_id", name="pk_feedback"),
    )
