"""Which books a channel reads, and what else holds there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce

from rag_core.books.audience import CHATS, Audience
from rag_core.books.book import Book, BookIds
from rag_core.books.bounds import bounded
from rag_core.books.policy import ANY_TENANT, EVERYWHERE, ChannelPolicy, Place, ReaderProfile
from rag_core.books.release import without_early_release
from rag_core.books.rules import Rules
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import InvalidQuestion
from rag_core.ports import BookStore, PolicyStore
from rag_core.retrieval.query import Filters


class Library:
    """Knows for each channel the books that its questions may be answered from, and how.

    In a chat, a closed book is not there unless the operator bound it to the channel, to its
    category or to the whole server or workspace; admins in the chat cannot open it."""

    def __init__(
        self,
        *,
        books: BookStore,
        policies: PolicyStore,
        default_book: str | None,
        closed_books: Collection[str] = (),
    ) -> None:
        self._books = books
        self._policies = policies
        self._default_book = default_book
        self._closed_books = frozenset(closed_books)

    async def rules_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> Rules:
        """What holds there. Where the chosen books are gone or closed, nothing is read rather
        than others."""
        place = Place(platform=platform, tenant=tenant, channel_id=channel_id)
        chosen = await self._chosen_for(place, category_id)
        policy = self._without_closed(chosen, platform)
        books, missing = None, policy.books
        if there := [book_id for book_id in policy.books if await self._books.get(book_id)]:
            books, missing = BookIds(there), ()
        elif not chosen.books:
            books = await self._default(self._closed_to(platform, chosen))
            missing = () if books else self._missing_default(platform, chosen)
        audience = Audience(
            platform=platform, tenant=tenant, bound_books=frozenset(chosen.operator_books)
        )
        return Rules(policy=policy, books=books, missing=missing, audience=audience)

    async def policy_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> ChannelPolicy:
        """What holds there: the channel's own words over its category's over its server's."""
        place = Place(platform=platform, tenant=tenant, channel_id=channel_id)
        return self._without_closed(await self._chosen_for(place, category_id), platform)

    async def books_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> BookIds | None:
        """The channel's own books, else the default one; None: none was chosen or none is there."""
        rules = await self.rules_for(
            platform=platform, tenant=tenant, channel_id=channel_id, category_id=category_id
        )
        return rules.books

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

    async def default(self) -> BookIds | None:
        """The book that is read everywhere: the one in the settings, or the only one there is."""
        return await self._default(closed=frozenset())

    async def visible_books(self, place: Place, *, category_id: str = "") -> Sequence[Book]:
        """The books that may be read and named in this place."""
        closed = await self.closed_to(place, category_id=category_id)
        return [book for book in await self._books.all() if book.book_id not in closed]

    async def closed_to(self, place: Place, *, category_id: str = "") -> frozenset[str]:
        """Closed books that the operator did not bind here."""
        return self._closed_to(place.platform, await self._chosen_for(place, category_id))

    async def own_policy(self, place: Place) -> ChannelPolicy:
        """What the place says itself; what wider places say is left out."""
        closed = await self.closed_to(place)
        return without(closed, await self._own(place))

    async def set_policy(self, place: Place, policy: ChannelPolicy) -> None:
        """Replace what a place says as an admin in the chat wishes: what the operator bound
        stays known, and a book that is closed here is one that does not exist."""
        own = await self.own_policy(place)
        new = [book_id for book_id in policy.books if book_id not in own.books]
        check_books(new, await self.visible_books(place))
        await self._policies.set(place, replace(policy, operator_books=own.operator_books))

    async def bind(
        self,
        *,
        platform: Platform,
        channel_id: str,
        book_ids: Sequence[str],
        tenant: TenantId | None = None,
    ) -> Sequence[Place]:
        """Let a channel, category or server read these books (none: the default one again).

        It is the operator who binds. Without a tenant it is every place that is known by this id,
        else the id wherever it is. Returns where the books are read now; the rest of each place's
        policy stays."""
        check_books(book_ids, await self._books.all())
        places = await self._places(platform, channel_id, tenant)
        for place in places:
            own = await self._policies.get(place) or ChannelPolicy()
            await self._policies.set(place, own.bound_to(*book_ids))
        return places

    async def _chosen_for(self, place: Place, category_id: str) -> ChannelPolicy:
        """What was said for the place, closed books included."""
        said = await self._policies.around(place, category_id=category_id)
        holds = reduce(lambda narrower, wider: narrower.over(wider), said, ChannelPolicy())
        return without_early_release(holds, platform=place.platform, at=datetime.now(UTC))

    async def _own(self, place: Place) -> ChannelPolicy:
        """The place's own words, or what the operator said of it by its id alone."""
        by_id = replace(place, tenant=ANY_TENANT, channel_id=place.channel_id or place.tenant)
        own = await self._policies.get(place) or await self._policies.get(by_id)
        return own or ChannelPolicy()

    def _closed_to(self, platform: Platform, chosen: ChannelPolicy) -> frozenset[str]:
        if platform not in CHATS:
            return frozenset()
        return self._closed_books.difference(chosen.operator_books)

    def _without_closed(self, chosen: ChannelPolicy, platform: Platform) -> ChannelPolicy:
        return without(self._closed_to(platform, chosen), chosen)

    async def _default(self, closed: frozenset[str]) -> BookIds | None:
        if self._default_book is not None:
            there = self._default_book not in closed and await self._books.get(self._default_book)
            return BookIds([self._default_book]) if there else None
        books = [book.book_id for book in await self._books.all() if book.book_id not in closed]
        return BookIds(books) if len(books) == 1 else None

    def _missing_default(self, platform: Platform, chosen: ChannelPolicy) -> tuple[str, ...]:
        named = self._default_book
        return () if named is None or named in self._closed_to(platform, chosen) else (named,)

    async def _places(
        self, platform: Platform, channel_id: str, tenant: TenantId | None
    ) -> Sequence[Place]:
        if tenant is not None:
            within = EVERYWHERE if channel_id == tenant else channel_id
            return [Place(platform=platform, tenant=tenant, channel_id=within)]
        known = [
            place
            for place in await self._policies.all()
            if place.platform is platform and channel_id == (place.channel_id or place.tenant)
        ]
        anywhere = Place(platform=platform, tenant=ANY_TENANT, channel_id=channel_id)
        return known or [anywhere]


def without(closed: frozenset[str], policy: ChannelPolicy) -> ChannelPolicy:
    """The policy without these books."""
    return policy.reading(*(book_id for book_id in policy.books if book_id not in closed))


def check_books(book_ids: Sequence[str], known: Sequence[Book]) -> None:
    """InvalidQuestion, with the known books, where one of these is not among them."""
    there = {book.book_id for book in known}
    for book_id in book_ids:
        if book_id not in there:
            named = ", ".join(sorted(there)) or "none yet"
            raise InvalidQuestion(
                "book_ids", f"There is no book {book_id!r}. Books: {named}.", allowed=named
            )
