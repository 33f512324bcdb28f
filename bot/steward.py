"""What admins see and do from inside a chat platform, carried out by this house."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from adapters.platform import ExaminesItself
from adapters.steward import Finding, GapLine
from bot.doctor import Doctor
from bot.services import Services
from rag_core.agent.answer import Suggestion
from rag_core.books.book import Book, BookIds
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.books.release import check_release
from rag_core.conversation.key import Platform, TenantId
from rag_core.ingestion.job import IngestionJob
from rag_core.insight.gap import Gap, GapState

LISTED = 10
UNANSWERED = (GapState.OPEN, GapState.PLANNED)


class HouseSteward:
    """Shows the house's books, jobs and gaps, and keeps its policies."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._doctor = Doctor(services.settings, services)
        self._platforms: list[ExaminesItself] = []

    def greet(self, platform: ExaminesItself) -> None:
        """A platform that opened: from now on its own findings are told too."""
        self._platforms.append(platform)

    async def books(self, place: Place, *, category_id: str = "") -> Sequence[Book]:
        return await self._services.library.visible_books(place, category_id=category_id)

    async def modules(self, place: Place) -> Sequence[str]:
        library = self._services.library
        platform, tenant, channel_id = place.platform, place.tenant, place.channel_id
        books = await library.books_for(platform=platform, tenant=tenant, channel_id=channel_id)
        if books is None:
            return []
        filters = await library.filters_for(platform=platform, tenant=tenant, channel_id=channel_id)
        return await self._services.retriever.modules(books=books, filters=filters)

    async def jobs(self, place: Place, *, category_id: str = "") -> Sequence[IngestionJob]:
        closed = await self._services.library.closed_to(place, category_id=category_id)
        recent = await self._services.stores.jobs.recent(limit=LISTED)
        return [job for job in recent if job.book_id not in closed]

    async def gaps(self, place: Place, *, category_id: str = "") -> Sequence[GapLine]:
        found = await self._services.gaps.listed(
            platform=place.platform, tenant=place.tenant, states=UNANSWERED, limit=LISTED
        )
        closed = await self._services.library.closed_to(place, category_id=category_id)
        return [await self._line(gap, closed) for gap in found]

    async def _line(self, gap: Gap, closed: frozenset[str]) -> GapLine:
        """The section that comes nearest is left out where its book may be closed to the place."""
        near = gap.nearest
        if near is not None and closed and not await self._is_open(near, closed):
            near = None
        return GapLine(example=gap.example, count=gap.count, nearest=near)

    async def _is_open(self, near: Suggestion, closed: frozenset[str]) -> bool:
        books = [book.book_id for book in await self._services.stores.books.all()]
        visible = [book_id for book_id in books if book_id not in closed]
        if not near.chunk_id or not visible:
            return False
        return bool(await self._services.vectors.chunks([near.chunk_id], books=BookIds(visible)))

    async def findings(self, place: Place, *, category_id: str = "") -> Sequence[Finding]:
        opened = next((each for each in self._platforms if each.platform is place.platform), None)
        return await self._doctor.for_admins(opened, place, category_id=category_id)

    async def policy(self, place: Place, *, category_id: str = "") -> ChannelPolicy:
        return await self._services.library.policy_for(
            platform=place.platform,
            tenant=place.tenant,
            channel_id=place.channel_id,
            category_id=category_id,
        )

    async def own_policy(self, place: Place) -> ChannelPolicy:
        return await self._services.library.own_policy(place)

    async def set_policy(self, place: Place, policy: ChannelPolicy) -> None:
        holds = await self.policy(place)
        check_release(policy, holds, platform=place.platform, at=datetime.now(UTC))
        await self._services.library.set_policy(place, policy)

    async def forget(self, *, platform: Platform, tenant: TenantId, asker_id: str) -> None:
        del tenant  # a person is the same one everywhere on a platform
        await self._services.forgetting.person(platform=platform, asker_id=asker_id)
