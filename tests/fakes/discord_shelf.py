"""A shelf that a Discord bot looks passages up in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from adapters.discord.acting.lookup import Lookup
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.books.policy import ChannelPolicy
from rag_core.books.rules import Rules
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import FootnoteError
from rag_core.retrieval.query import Filters, SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult


class Shelf:
    """Searches and library in one: passages that hold the words, modules as they are given."""

    def __init__(
        self,
        *passages: SearchResult,
        modules: Sequence[str] = (),
        released: Mapping[str, datetime] | None = None,
    ) -> None:
        """`released` says from when on a module has something to read."""
        self.passages = passages
        self.known = modules
        self.released = released or {}
        self.policy = ChannelPolicy()
        self.queries: list[SearchQuery] = []
        self.books: BookIds | None = BookIds(["course"])
        self.trouble: FootnoteError | None = None
        self.asked_for: list[tuple[TenantId, str]] = []

    async def search(self, query: SearchQuery) -> SearchResponse:
        self.queries.append(query)
        if self.trouble is not None:
            raise self.trouble
        found = tuple(p for p in self.passages if query.text.casefold() in p.text.casefold())
        return SearchResponse(query=query, results=found, total_found=len(found))

    async def modules(self, *, books: BookIds, filters: Filters) -> Sequence[str]:
        if self.trouble is not None:
            raise self.trouble
        return [name for name in self.known if self._is_open(name, filters)]

    def _is_open(self, name: str, filters: Filters) -> bool:
        out, by = self.released.get(name), filters.released_at
        is_out = out is None or by is None or out <= by
        return is_out and (not filters.modules or name in filters.modules)

    async def policy_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> ChannelPolicy:
        self.asked_for.append((tenant, channel_id))
        return self.policy

    async def rules_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> Rules:
        policy = await self.policy_for(platform=platform, tenant=tenant, channel_id=channel_id)
        audience = Audience(platform=platform, tenant=tenant)
        return Rules(policy=policy, books=self.books, audience=audience)

    @property
    def lookup(self) -> Lookup:
        return Lookup(searches=self, library=self)
