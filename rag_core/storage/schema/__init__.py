"""The tables, for both engines. Migrations bring them about; nothing else creates a table.

Times are ISO 8601 text in UTC with six decimals, so that text order is time order on both
engines. Columns named `body`, `messages`, `retrievals` and `metadata` hold JSON that `codec`
writes and checks when it reads. A column named for a table's singular refers to that table.
"""

from __future__ import annotations

from rag_core.storage.schema.base import SORTED, metadata
from rag_core.storage.schema.bounds import forgotten, notices, token_usage
from rag_core.storage.schema.conversations import sessions, threads
from rag_core.storage.schema.facts import markers
from rag_core.storage.schema.insight import UNHELPFUL, feedback, gap_questions, gaps, repeats
from rag_core.storage.schema.installations import installations, used_tickets
from rag_core.storage.schema.ledger import IN_VAIN, answers, citations, parts, questions, turns
from rag_core.storage.schema.library import books, ingestion_records, jobs, policies, sources
from rag_core.storage.schema.staff import staff_answers
from rag_core.storage.schema.tenants import tenants

__all__ = [
    "IN_VAIN",
    "SORTED",
    "UNHELPFUL",
    "answers",
    "books",
    "citations",
    "feedback",
    "forgotten",
    "gap_questions",
    "gaps",
    "ingestion_records",
    "installations",
    "jobs",
    "markers",
    "metadata",
    "notices",
    "parts",
    "policies",
    "questions",
    "repeats",
    "sessions",
    "sources",
    "staff_answers",
    "tenants",
    "threads",
    "token_usage",
    "turns",
    "used_tickets",
]
