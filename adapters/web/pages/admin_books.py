"""The dashboard's books, runs and channels as HTML."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from adapters.web.documents.values import policy_document
from adapters.web.pages.admin_frame import DASH, items, no_items, row, rows
from adapters.web.pages.templates import NOTHING, Html, fill, joined
from adapters.web.routes.uploads import KINDS, MAX_BOOK_BYTES, MAX_FILES
from rag_core.books.book import Book
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.ingestion.job import IngestionJob
from rag_core.ingestion.kinds import MEGABYTE

BOUNDS = (
    f"{KINDS}; at most {MAX_FILES:,} files and {MAX_BOOK_BYTES // MEGABYTE} MB a book."
    " A file with the same name is replaced."
)
TOLD = 50
"""Failures and notices that are shown of one run."""


def books_html(books: Sequence[Book], jobs: Sequence[IngestionJob], *, drops: bool) -> Html:
    return fill(
        "admin-books",
        books=rows(
            [book_row(book) for book in books], columns=5, otherwise="No book has been read yet."
        ),
        drop=drop_html(books) if drops else NOTHING,
        jobs=jobs_html(jobs),
    )


def book_row(book: Book) -> Html:
    runs = [run for run in (book.last_full_ingest, book.last_incremental_update) if run]
    last = f"{max(runs):%d %b %Y %H:%M} UTC" if runs else DASH
    return row(book.book_id, book.title, str(book.files), str(book.chunks), last)


def drop_html(books: Sequence[Book]) -> Html:
    known = [
        fill("admin-option", value=book.book_id, words=book.title, selected=NOTHING)
        for book in books
    ]
    return fill("admin-drop", books=joined(known), accepted=KINDS.replace(" ", ""), bounds=BOUNDS)


def jobs_html(jobs: Sequence[IngestionJob]) -> Html:
    return joined([job_html(job) for job in jobs]) or no_items("Nothing was read yet.")


def job_html(job: IngestionJob) -> Html:
    counts = (
        f"{job.files_processed} read, {job.files_skipped} skipped, {job.files_failed} failed;"
        f" {job.chunks_created} passages new, {job.chunks_deleted} gone"
    )
    return fill(
        "admin-job",
        job_id=str(job.job_id),
        over=str(job.status.is_over).lower(),
        status=job.status.value,
        book=job.book_id,
        when=f"{job.started_at:%d %b %Y %H:%M} UTC",
        counts=counts,
        cancel=NOTHING if job.status.is_over else fill("admin-cancel"),
        notes=notes_html(job),
    )


def notes_html(job: IngestionJob) -> Html:
    failures = [f"{failed.source_file}: {failed.reason}" for failed in job.failures]
    told = {
        "It failed": [job.error_message] if job.error_message else [],
        f"{len(failures)} files could not be read": failures,
        f"{len(job.notices)} notices": list(job.notices),
    }
    return joined(
        [
            fill("admin-notes", words=words, lines=items(lines[:TOLD]))
            for words, lines in told.items()
            if lines
        ]
    )


def channels_html(policies: Mapping[Place, ChannelPolicy]) -> Html:
    made = [policy_row(place, policy) for place, policy in policies.items()]
    said = "No place says anything for itself: the default book is read everywhere."
    return fill("admin-channels", policies=rows(made, columns=6, otherwise=said))


def policy_row(place: Place, policy: ChannelPolicy) -> Html:
    where = place.channel_id or "everywhere"
    return row(
        place.platform.value,
        place.tenant or DASH,
        where,
        ", ".join(policy.books) + chosen_in_chat(policy) or DASH,
        "; ".join(rules(policy)) or DASH,
        last=fill(
            "admin-edit-place", policy=json.dumps(policy_document(place, policy)), place=where
        ),
    )


def chosen_in_chat(policy: ChannelPolicy) -> str:
    """Whose choice the books are, where it is not the operator's."""
    return "" if set(policy.books) <= set(policy.operator_books) else " (chosen there)"


def rules(policy: ChannelPolicy) -> Sequence[str]:
    """What holds besides the books, in words."""
    reader = policy.reader
    told = {
        f"modules {', '.join(policy.modules)}": bool(policy.modules),
        "answers without a mention": policy.auto_answer is True,
        "answers mentions only": policy.auto_answer is False,
        "hints only": policy.hint_only is True,
        "full answers": policy.hint_only is False,
        f"tone: {policy.tone}": bool(policy.tone),
        f"nothing released after {policy.released_at:%d %b %Y}"
        if policy.released_at
        else "": policy.released_at is not None,
        f"hardware tier {reader.hardware_tier}": reader.hardware_tier is not None,
        f"levels {', '.join(reader.proficiency_levels)}": bool(reader.proficiency_levels),
    }
    return [words for words, holds in told.items() if holds]
