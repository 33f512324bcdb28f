"""Which books a channel reads, and what else holds there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import reduce

from rag_core.books.book import BookIds
from rag_core.books.bounds import bounded
from rag_core.books.policy import ANY_TENANT, ChannelPolicy, Place, ReaderProfile
from rag_core.books.release import without_early_release
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import InvalidQuestion
from rag_core.ports import BookStore, PolicyStore
from rag_core.retrieval.query import Filters


class Library:
    """Knows for each channel the books that its questions may be answered from, and how."""

    def __init__(
        self, *, books: BookStore, policies: PolicyStore, default_book: str | None
    ) -> None:
        self._books = books
        self._policies = policies
        self._default_book = default_book

    async def policy_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> ChannelPolicy:
        """What holds there: the channel's own words over its category's over its server's."""
        place = Place(platform=platform, tenant=tenant, channel_id=channel_id)
        said = await self._policies.around(place, category_id=category_id)
        holds = reduce(lambda narrower, wider: narrower.over(wider), said, ChannelPolicy())
        return without_early_release(holds, platform=platform, at=datetime.now(UTC))

    async def books_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> BookIds | None:
        """The channel's own books, else the default one; None: none was chosen or none is there."""
        return await self.books_under(
            await self.policy_for(
                platform=platform, tenant=tenant, channel_id=channel_id, category_id=category_id
            )
        )

    async def filters_for(
        self,
        *,
        platform: Platform,
        tenant: TenantId,
        channel_id: str,
        category_id: str = "",
        reader: ReaderProfile | None = None,
        asked: Filters | None = None,
    ) -> Filters:
        """What a look-up in this place may find, with what was asked for inside of it."""
        policy = await self.policy_for(
            platform=platform, tenant=tenant, channel_id=channel_id, category_id=category_id
        )
        return bounded(asked or Filters(), policy, reader=reader, at=datetime.now(UTC))

    async def books_under(self, policy: ChannelPolicy) -> BookIds | None:
        """The books of a policy. Where they were removed, nothing is read rather than others."""
        if not policy.books:
            return await self.default()
        there = [book_id for book_id in policy.books if await self._books.get(book_id)]
        return BookIds(there) if there else None

    def chosen_under(self, policy: ChannelPolicy) -> Sequence[str]:
        """The books that the policy names, or else the settings, there or not."""
        return policy.books or ((self._default_book,) if self._default_book else ())

    async def default(self) -> BookIds | None:
        """The book that is read everywhere: the one in the settings, or the only one there is."""
        if self._default_book is not None:
            there = await self._books.get(self._default_book)
            return BookIds([self._default_book]) if there else None
        books = await self._books.all()
        return BookIds([books[0].book_id]) if len(books) == 1 else None

    async def bind(
        self,
        *,
        platform: Platform,
        channel_id: str,
        book_ids: Sequence[str],
        tenant: TenantId | None = None,
    ) -> Sequence[Place]:
        """Let a channel, category or server read these books (none: the default one again).

        Without a tenant it is every place that is known by this id, else the id wherever it is.
        Returns where the books are read now; the rest of each place's policy stays."""
        for book_id in book_ids:
            await self.check_book(book_id)
        places = await self._places(platform, channel_id, tenant)
        for place in places:
            own = await self._policies.get(place) or ChannelPolicy()
            await self._policies.set(place, own.bound_to(*book_ids))
        return places

    async def check_book(self, book_id: str) -> None:
        """InvalidQuestion, with the books there are, where there is no such book."""
        if await self._books.get(book_id):
            return
        known = ", ".join(book.book_id for book in await self._books.all()) or "none yet"
        raise InvalidQuestion(
            "book_ids", f"There is no book {book_id!r}. Books: {known}.", allowed=known
        )

    async def _places(
        self, platform: Platform, channel_id: str, tenant: TenantId | None
    ) -> Sequence[Place]:
        if tenant is not None:
            return [Place(platform=platform, tenant=tenant, channel_id=channel_id)]
        known = [
            place
            for place in await self._policies.all()
            if place.platform is platform and channel_id == (place.channel_id or place.tenant)
        ]
        anywhere = Place(platform=platform, tenant=ANY_TENANT, channel_id=channel_id)
        return known or [anywhere]
