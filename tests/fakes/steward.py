"""A steward with a small house: it keeps policies by place, as the real one does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from adapters.steward import Finding, GapLine
from rag_core.agent.answer import Suggestion
from rag_core.books.book import Book
from rag_core.books.policy import EVERYWHERE, ChannelPolicy, Place
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import InvalidQuestion
from rag_core.ingestion.job import IngestionJob, IngestionMode, JobStatus

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class SmallHouse:
    """Two books, one job, one gap, one thing missing."""

    def __init__(self) -> None:
        self.kept: dict[Place, ChannelPolicy] = {}
        self.forgotten: list[tuple[TenantId, str]] = []
        self.titles = {"course": "The course", "handbook": "The handbook"}

    async def books(self, place: Place, *, category_id: str = "") -> Sequence[Book]:
        return [Book(book_id=name, title=title) for name, title in self.titles.items()]

    async def modules(self, place: Place) -> Sequence[str]:
        return ["ros-2"]

    async def jobs(self, place: Place, *, category_id: str = "") -> Sequence[IngestionJob]:
        failed = IngestionJob(
            job_id=UUID(int=1),
            book_id="course",
            mode=IngestionMode.INCREMENTAL,
            status=JobStatus.FAILED,
            started_at=NOON,
            completed_at=NOON,
            error_message="the folder is gone @everyone",
        )
        return [failed]

    async def gaps(self, place: Place, *, category_id: str = "") -> Sequence[GapLine]:
        near = Suggestion(page_title="Limits", section_heading="Daily", page_url=None)
        return [GapLine(example="What about <@1>?", count=3, nearest=near)]

    async def findings(self, place: Place, *, category_id: str = "") -> Sequence[Finding]:
        return [
            Finding(name="database", in_place=True, detail="answers"),
            Finding(
                name="#help", in_place=False, detail="no threads", advice="allow Create threads"
            ),
        ]

    async def policy(self, place: Place, *, category_id: str = "") -> ChannelPolicy:
        own = self.kept.get(place, ChannelPolicy())
        server = Place(platform=place.platform, tenant=place.tenant, channel_id=EVERYWHERE)
        return own.over(self.kept.get(server, ChannelPolicy()))

    async def own_policy(self, place: Place) -> ChannelPolicy:
        return self.kept.get(place, ChannelPolicy())

    async def set_policy(self, place: Place, policy: ChannelPolicy) -> None:
        for book_id in policy.books:
            if book_id not in self.titles:
                raise InvalidQuestion("book_ids", f"There is no book {book_id!r}.")
        self.kept[place] = policy

    async def forget(self, *, platform: Platform, tenant: TenantId, asker_id: str) -> None:
        self.forgotten.append((tenant, asker_id))
