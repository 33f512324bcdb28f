"""Whether an answer cites a book that has been closed to its place since."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_core.agent.answer import AgentResponse
from rag_core.books.book import BookIds
from rag_core.books.policy import Place
from rag_core.conversation.key import ConversationKey


class KnowsClosed(Protocol):
    """The library, as far as books are closed."""

    async def closed_to(self, place: Place, *, category_id: str = "") -> frozenset[str]: ...


class FindsChunks(Protocol):
    """The index, by the ids of its passages."""

    async def chunks(self, chunk_ids: Sequence[str], *, books: BookIds) -> Collection[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedPassages:
    """Looks cited passages up in the books that are closed to a place, and in no others."""

    library: KnowsClosed
    index: FindsChunks

    async def are_cited(
        self, response: AgentResponse, key: ConversationKey, *, category_id: str
    ) -> bool:
        place = Place(platform=key.platform, tenant=key.tenant, channel_id=key.channel_id)
        closed = await self.library.closed_to(place, category_id=category_id)
        cited = [citation.chunk_id for citation in response.citations]
        if not closed or not cited:
            return False
        return bool(await self.index.chunks(cited, books=BookIds(closed)))
