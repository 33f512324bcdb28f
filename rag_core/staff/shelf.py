"""Finds kept answers beside the passages of the documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from rag_core.books.audience import Audience
from rag_core.ports import EmbeddedQuery, Embedder
from rag_core.retrieval.cosines import scale_of
from rag_core.retrieval.likeness import cosine
from rag_core.retrieval.query import SearchQuery
from rag_core.retrieval.results import SearchResult
from rag_core.staff.answer import KIND, StaffAnswer, with_vector
from rag_core.staff.store import StaffAnswerStore

AT_MOST = 2
"""Of one search: documents come first where they say anything."""


def utc_now() -> datetime:
    return datetime.now(UTC)


class StaffShelf:
    """The kept answers of the books that a search reads.

    They stand in the database and not in the index: what is withdrawn is gone with the next
    search, and what is made of a book anew takes none of them along."""

    def __init__(
        self,
        *,
        store: StaffAnswerStore,
        embedder: Embedder,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._now = now

    async def joined(
        self, found: Sequence[SearchResult], asked: EmbeddedQuery, query: SearchQuery
    ) -> Sequence[SearchResult]:
        """What was found, with the nearest kept answers that this reader may see."""
        audience = query.audience
        if audience is None:
            return found
        kept = await self._store.found_in(query.book_ids, audience=audience, now=self._now())
        visible = [answer for answer in kept if answer.passes(query.filters)]
        if not visible:
            return found
        current = [await self._with_vector(answer) for answer in visible]
        scored = [(cosine(asked.vector, answer.vector), answer) for answer in current]
        least = max(scale_of(self._embedder.model).related, query.similarity_threshold)
        best = sorted((one for one in scored if one[0] >= least), key=lambda one: -one[0])
        near = [as_result(answer, score, audience) for score, answer in best[:AT_MOST]]
        return among(found, near)[: query.limit]

    async def kept_ids(self, chunk_ids: Sequence[str]) -> Collection[str]:
        """Those of the passages that are kept answers and still stand."""
        kept = await self._store.standing(now=self._now())
        return {each.chunk_id for each in kept}.intersection(chunk_ids)

    async def _with_vector(self, answer: StaffAnswer) -> StaffAnswer:
        """Its vector, made anew where the house has another embedding model now."""
        if answer.model == self._embedder.model:
            return answer
        renewed = await with_vector(answer, self._embedder)
        await self._store.save_vector(renewed)
        return renewed


def among(found: Sequence[SearchResult], kept: Sequence[SearchResult]) -> list[SearchResult]:
    """Each kept answer before the first passage that is not nearer."""
    together = list(found)
    for answer in kept:
        near = answer.similarity_score
        nearer = (n for n, each in enumerate(together) if each.similarity_score <= near)
        place = next(nearer, len(together))
        neighbour = together[min(place, len(together) - 1)] if together else answer
        together.insert(place, replace(answer, rank_score=neighbour.rank_score))
    return [replace(each, rank=rank) for rank, each in enumerate(together, start=1)]


def as_result(answer: StaffAnswer, score: float, audience: Audience) -> SearchResult:
    """The answer as this audience is shown it. The question that it helped out with is shown to
    nobody, and its author and message are known in its own place alone."""
    own = answer.belongs_to(audience)
    title = answer.title if own else answer.shared_title
    return SearchResult(
        text=answer.text,
        chunk_id=answer.chunk_id,
        similarity_score=score,
        rank=1,
        rank_score=score,
        book_id=answer.book_id,
        source_file="",
        content_hash=answer.content_hash,
        parent_doc_id="",
        chunk_index=0,
        total_chunks=1,
        page_title=title,
        breadcrumb=title,
        page_url=(answer.link or None) if own else None,
        given_for=answer.question,
        vector=answer.vector,
        metadata={"kind": KIND},
    )
