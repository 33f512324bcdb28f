"""The tables, for both engines. Migrations bring them about; nothing else creates a table.

Times are ISO 8601 text in UTC with six decimals, so that text order is time order on both
engines. Columns named `body`, `messages`, `retrievals` and `metadata` hold JSON that `codec`
writes and checks when it reads. A column named for a table's singular refers to that table.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
    text,
)

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMING)

SORTED = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that is ordered byte by byte, whatever the server's language is."""


def parent(table: str, column: str) -> ForeignKey:
    """What belongs to a row goes with it."""
    return ForeignKey(f"{table}.{column}", ondelete="CASCADE")


threads = Table(
    "threads",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("platform", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("channel_id", Text, nullable=False),
    Column("thread_id", Text, nullable=False),
    Column("updated_at", SORTED, nullable=False),
    Column("archived_at", SORTED),
    # Work in this thread: its oldest open question, and the one claim that it can have.
    Column("waiting_since", SORTED),
    Column("worker", Text),
    Column("lease_until", SORTED),
    Column("claimed", Text),
    # Whose turn it is: this thread's place among tenants, and among its tenant's askers.
    Column("waiting_asker", Text),
    Column("tenant_turn", Integer),
    Column("asker_turn", Integer),
    UniqueConstraint("platform", "tenant", "channel_id", "thread_id"),
)
Index(
    "ix_threads_recent",
    threads.c.platform,
    threads.c.tenant,
    threads.c.channel_id,
    threads.c.updated_at,
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("thread", Integer, parent("threads", "id"), nullable=False),
    Column("session_id", Text, nullable=False, unique=True),
    Column("number", Integer, nullable=False),
    Column("model", Text, nullable=False),
    Column("turn_count", Integer, nullable=False),
    Column("topic_summary", Text, nullable=False),
    Column("metadata", Text, nullable=False),
    Column("created_at", SORTED, nullable=False),
    Column("closed_at", SORTED),
    UniqueConstraint("thread", "number"),
)

questions = Table(
    "questions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("thread", Integer, parent("threads", "id"), nullable=False),
    Column("platform", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("channel_id", Text, nullable=False),
    Column("message_id", Text, nullable=False),
    Column("asker_id", Text, nullable=False),
    Column("position", SORTED, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("accepted_at", SORTED, nullable=False, index=True),
    Column("settled_at", SORTED),
    Column("closed_at", SORTED),
    Column("delivered", Boolean),
    # Counts what the asker did to the question afterwards: edits, withdrawal, asking again.
    Column("revision", Integer, nullable=False, server_default="0"),
    Column("withdrawn_at", SORTED),
    Column("told_at", SORTED),
    Column("refusal", Text),
    Column("rung", Text),
    UniqueConstraint("platform", "tenant", "channel_id", "message_id"),
)
Index("ix_questions_thread", questions.c.thread, questions.c.position)
Index("ix_questions_accepted", questions.c.accepted_at)
Index("ix_questions_asker", questions.c.platform, questions.c.asker_id, questions.c.accepted_at)
Index(
    "ix_questions_channel",
    questions.c.platform,
    questions.c.tenant,
    questions.c.channel_id,
    questions.c.accepted_at,
)

turns = Table(
    "turns",
    metadata,
    Column("session", Integer, parent("sessions", "id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("question", Text, parent("questions", "id"), nullable=False, unique=True),
    Column("messages", Text, nullable=False),
    Column("retrievals", Text, nullable=False),
    Column("created_at", SORTED, nullable=False),
)

answers = Table(
    "answers",
    metadata,
    Column("answer_id", Text, primary_key=True),
    Column("question", Text, parent("questions", "id"), nullable=False, unique=True),
    Column("session_id", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("confidence_level", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("tokens_used", Integer, nullable=False),
    Column("created_at", SORTED, nullable=False),
    Column("body", Text, nullable=False),
    # When a source of it changed, and when its messages said so.
    Column("source_changed_at", SORTED),
    Column("change_shown_at", SORTED),
)

citations = Table(
    "citations",
    metadata,
    Column("answer_id", Text, parent("answers", "answer_id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("page_title", Text, nullable=False),
    Column("section_heading", Text, nullable=False),
    Column("module", Text),
    Column("page_url", Text),
    Column("chunk_id", Text, nullable=False, index=True),
    Column("content_hash", Text, nullable=False),
    Column("quote", Text, nullable=False),
)

parts = Table(
    "parts",
    metadata,
    Column("question", Text, parent("questions", "id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("payload", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("external_id", Text),
    Column("revision", Integer, nullable=False, server_default="0"),
)

token_usage = Table(
    "token_usage",
    metadata,
    Column("platform", Text, primary_key=True),
    Column("tenant", Text, primary_key=True),
    Column("hour", SORTED, primary_key=True),
    Column("tokens", Integer, nullable=False),
)

notices = Table(
    "notices",
    metadata,
    Column("platform", Text, primary_key=True),
    Column("asker_id", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("until", SORTED, nullable=False, index=True),
)

forgotten = Table(
    "forgotten",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("forgotten_at", SORTED, nullable=False, index=True),
)

feedback = Table(
    "feedback",
    metadata,
    Column("answer_id", Text, parent("answers", "answer_id"), primary_key=True),
    Column("asker_id", Text, primary_key=True, index=True),
    Column("helpful", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Column("rated_at", SORTED, nullable=False),
)

gaps = Table(
    "gaps",
    metadata,
    Column("gap_id", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("changed_at", SORTED, nullable=False),
)

# Which gap a question in vain belongs to; without one it was looked at and is none. Its words
# stand with its answer alone, so that nothing of a deleted thread is left here.
gap_questions = Table(
    "gap_questions",
    metadata,
    Column("answer_id", Text, parent("answers", "answer_id"), primary_key=True),
    Column("gap_id", Text, parent("gaps", "gap_id")),
    Column("asked_at", SORTED, nullable=False, index=True),
    Column("closeness", Float, nullable=False),
    Column("vector", Text, nullable=False),
    Column("terms", Text, nullable=False),
)
Index("ix_gap_questions_gap", gap_questions.c.gap_id, gap_questions.c.closeness)

books = Table(
    "books",
    metadata,
    Column("book_id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("files", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("embedding_model", Text, nullable=False),
    Column("base_url", Text, nullable=False),
    Column("last_full_ingest", SORTED),
    Column("last_incremental_update", SORTED),
)

policies = Table(
    "policies",
    metadata,
    Column("platform", Text, primary_key=True),
    Column("channel_id", Text, primary_key=True),
    Column("tenant", Text, primary_key=True),
    Column("body", Text, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("source_id", Text, primary_key=True),
    Column("book_id", Text, nullable=False),
    Column("location", Text, nullable=False),
    Column("next_at", SORTED),
    Column("body", Text, nullable=False),
    UniqueConstraint("book_id", "location"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("book_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("started_at", SORTED, nullable=False, index=True),
    Column("completed_at", SORTED),
    Column("body", Text, nullable=False),
)

ingestion_records = Table(
    "ingestion_records",
    metadata,
    Column("book_id", Text, primary_key=True),
    Column("source_file", Text, primary_key=True),
    Column("file_hash", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("source", Text, nullable=False),
    Column("chunk_ids", Text, nullable=False),
    Column("ingested_at", SORTED, nullable=False),
    Column("module", Text),
    Column("chapter", Integer),
    Column("lesson", Integer),
)

markers = Table(
    "markers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("updated_at", SORTED, nullable=False),
)

# Who let the app in. The tokens are sealed; whoever reads the database alone reads none.
installations = Table(
    "installations",
    metadata,
    Column("platform", Text, primary_key=True),
    Column("tenant", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("sealed", Text, nullable=False),
    Column("updated_at", SORTED, nullable=False),
)

# What opens a door once, by its hash, for as long as it would open it.
used_tickets = Table(
    "used_tickets",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("until", SORTED, nullable=False, index=True),
)


def partial(name: str, *columns: Column[object], unique: bool = False, only: object) -> Index:
    """An index over the few rows that matter."""
    return Index(name, *columns, unique=unique, sqlite_where=only, postgresql_where=only)


partial("ix_threads_idle", threads.c.updated_at, only=threads.c.archived_at.is_(None))
WAITS = threads.c.waiting_since.is_not(None)
partial("ix_threads_tenants", threads.c.tenant_turn, threads.c.waiting_since, only=WAITS)
TENANT = (threads.c.platform, threads.c.tenant)
partial("ix_threads_tenant", *TENANT, threads.c.tenant_turn, only=WAITS)
partial("ix_threads_askers", *TENANT, threads.c.asker_turn, threads.c.waiting_since, only=WAITS)
partial("ix_threads_asker", *TENANT, threads.c.waiting_asker, threads.c.asker_turn, only=WAITS)
partial("ix_threads_worker", threads.c.worker, only=threads.c.worker.is_not(None))
partial("uq_sessions_open", sessions.c.thread, unique=True, only=sessions.c.closed_at.is_(None))
partial(
    "ix_questions_open",
    questions.c.closed_at,  # always null here: named so that planners prefer this small index
    questions.c.thread,
    questions.c.position,
    only=questions.c.closed_at.is_(None),
)
partial(
    "ix_answers_changed",
    answers.c.source_changed_at,
    only=answers.c.source_changed_at.is_not(None) & answers.c.change_shown_at.is_(None),
)
partial("ix_jobs_unfinished", jobs.c.started_at, only=jobs.c.completed_at.is_(None))
# Written out in full: a planner takes a partial index only where its condition is plain to see.
IN_VAIN = answers.c.outcome.in_(
    [literal_column("'no_results'"), literal_column("'low_confidence'")]
)
UNHELPFUL = text("helpful IS false")
partial(
    "ix_answers_in_vain",
    answers.c.created_at,
    only=IN_VAIN,
)
partial("ix_feedback_not_helpful", feedback.c.rated_at, only=UNHELPFUL)
