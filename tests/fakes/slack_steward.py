"""A steward that keeps a small house."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from adapters.steward import Finding, GapLine
from rag_core.agent.answer import Suggestion
from rag_core.books.book import Book
from rag_core.books.policy import EVERYWHERE, ChannelPolicy, Place
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import InvalidQuestion
from rag_core.ingestion.job import IngestionJob, IngestionMode, JobStatus

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class SmallHouse:
    """One book, one job, one gap, one thing that is missing."""

    def __init__(self) -> None:
        self.policies: dict[Place, ChannelPolicy] = {}
        self.forgotten: list[str] = []

    async def books(self, place: Place, *, category_id: str = "") -> Sequence[Book]:
        return [Book(book_id="handbook", title="The <handbook>", files=3)]

    async def modules(self, place: Place) -> Sequence[str]:
        return []

    async def jobs(self, place: Place, *, category_id: str = "") -> Sequence[IngestionJob]:
        return [
            IngestionJob(
                job_id=UUID(int=1),
                book_id="handbook",
                mode=IngestionMode.FULL,
                status=JobStatus.COMPLETED,
                started_at=NOW,
                completed_at=NOW,
                files_processed=3,
            )
        ]

    async def gaps(self, place: Place, *, category_id: str = "") -> Sequence[GapLine]:
        near = Suggestion(page_title="Trips", section_heading="", page_url="https://docs.example/t")
        return [GapLine(example="Who pays for <trains>?", count=4, nearest=near)]

    async def findings(self, place: Place, *, category_id: str = "") -> Sequence[Finding]:
        return [
            Finding(name="model", in_place=True, detail="It answers."),
            Finding(name="scope", in_place=False, detail="One is missing.", advice="Add it."),
        ]

    async def policy(self, place: Place, *, category_id: str = "") -> ChannelPolicy:
        own = self.policies.get(place, ChannelPolicy())
        return own.over(self.policies.get(replace(place, channel_id=EVERYWHERE), ChannelPolicy()))

    async def own_policy(self, place: Place) -> ChannelPolicy:
        return self.policies.get(place, ChannelPolicy())

    async def set_policy(self, place: Place, policy: ChannelPolicy) -> None:
        if policy.book_id not in (None, "handbook"):
            raise InvalidQuestion("book_id", f"There is no book {policy.book_id!r}.")
        self.policies[place] = policy

    async def forget(self, *, platform: Platform, tenant: TenantId, asker_id: str) -> None:
        self.forgotten.append(asker_id)
