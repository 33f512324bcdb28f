"""What admins see and do from inside a chat platform, carried out by this house."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from adapters.platform import ExaminesItself
from adapters.steward import Finding, GapLine
from bot.closed_books import closed_to
from bot.doctor import Doctor
from bot.services import Services
from rag_core.books.book import Book
from rag_core.books.policy import ANY_TENANT, ChannelPolicy, Place
from rag_core.books.release import check_release
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import InvalidQuestion
from rag_core.ingestion.job import IngestionJob
from rag_core.insight.gap import GapState

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

    async def books(self, *, platform: Platform, tenant: TenantId) -> Sequence[Book]:
        closed = await closed_to(self._services, platform, tenant)
        books = await self._services.stores.books.all()
        return [book for book in books if book.book_id not in closed]

    async def modules(self, place: Place) -> Sequence[str]:
        books = await self._services.library.books_for(
            platform=place.platform, tenant=place.tenant, channel_id=place.channel_id
        )
        return [] if books is None else await self._services.retriever.modules(books=books)

    async def jobs(self, *, platform: Platform, tenant: TenantId) -> Sequence[IngestionJob]:
        closed = await closed_to(self._services, platform, tenant)
        recent = await self._services.stores.jobs.recent(limit=LISTED)
        return [job for job in recent if job.book_id not in closed]

    async def gaps(self, *, platform: Platform, tenant: TenantId) -> Sequence[GapLine]:
        found = await self._services.gaps.listed(
            platform=platform, tenant=tenant, states=UNANSWERED, limit=LISTED
        )
        return [GapLine(example=gap.example, count=gap.count, nearest=gap.nearest) for gap in found]

    async def findings(self, *, platform: Platform, tenant: TenantId) -> Sequence[Finding]:
        opened = next((each for each in self._platforms if each.platform is platform), None)
        return await self._doctor.for_admins(opened, (platform, tenant))

    async def policy(self, place: Place, *, category_id: str = "") -> ChannelPolicy:
        return await self._services.library.policy_for(
            platform=place.platform,
            tenant=place.tenant,
            channel_id=place.channel_id,
            category_id=category_id,
        )

    async def own_policy(self, place: Place) -> ChannelPolicy:
        """What the operator said of the place by its id alone counts until it has own words."""
        policies = self._services.stores.policies
        by_id = replace(place, tenant=ANY_TENANT, channel_id=place.channel_id or place.tenant)
        return await policies.get(place) or await policies.get(by_id) or ChannelPolicy()

    async def set_policy(self, place: Place, policy: ChannelPolicy) -> None:
        closed = await closed_to(self._services, place.platform, place.tenant)
        for book_id in policy.books:
            if book_id in closed:
                raise InvalidQuestion("book_ids", f"There is no book {book_id!r}.")
            await self._services.library.check_book(book_id)
        check_release(
            policy, await self.policy(place), platform=place.platform, at=datetime.now(UTC)
        )
        own = await self.own_policy(place)
        kept = replace(policy, operator_books=own.operator_books)
        await self._services.stores.policies.set(place, kept)

    async def forget(self, *, platform: Platform, tenant: TenantId, asker_id: str) -> None:
        del tenant  # a person is the same one everywhere on a platform
        await self._services.stores.forgetting.person(platform=platform, asker_id=asker_id)
