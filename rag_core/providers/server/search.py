"""How the server's index is read: candidates by meaning and by words, each scored by both."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import qdrant_edge as edge
from qdrant_client import models

from rag_core.ports import EmbeddedQuery, Vector
from rag_core.ports.vectors import MOST_COUNTED
from rag_core.providers.attempts import together
from rag_core.providers.index.bm25 import idf, words_model
from rag_core.providers.index.conditions import Condition, conditions_of
from rag_core.providers.index.payload import candidates, result_of, results_of
from rag_core.providers.server.collection import DENSE, TERMS
from rag_core.providers.server.connection import Connection
from rag_core.providers.server.filters import among, has_number, readable
from rag_core.providers.server.rarity import Rarity, Reach, share
from rag_core.providers.server.requests import by_meaning, by_words, dense_of, words_of
from rag_core.retrieval.candidates import Order, Placed
from rag_core.retrieval.likeness import Likeness, middle_of
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.scoring import Ranked, ranked

CANDIDATES = 100
CONTENT_HASH = "content_hash"
PAGE = 256
SHOWN = models.PayloadSelectorExclude(exclude=[TERMS])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A point that may be among the best."""

    cosines: tuple[float, ...]
    """To each text that is looked for."""
    words: Mapping[int, float]
    """The weights of its words."""


class ServerSearch:
    """Reads one collection."""

    def __init__(self, connection: Connection, collection: str) -> None:
        self._connection = connection
        self._collection = collection
        self._words = words_model()
        self._rarity = Rarity()

    async def search(
        self, query: EmbeddedQuery, reach: Reach, *, limit: int, pool: int, order: Order
    ) -> list[SearchResult]:
        words = [self._words.embed_query(asked.text) for asked in query.texts]
        found = await self._candidates(query, words, reach, max(pool, limit))
        rarities = [await self._rarity_of(each.indices, reach) for each in words]
        points = sorted(found)
        cosines = [
            [found[point].cosines[number] for point in points] for number in range(len(words))
        ]
        shares = [[share(found[point].words, rarity) for point in points] for rarity in rarities]
        signals = np.array([*cosines, *shares], dtype=np.float64)
        near = ranked(points, signals, query.cosine_weight)
        return await self._ordered(near, limit, max(pool, limit), order)

    async def _ordered(
        self, found: Ranked[str], limit: int, room: int, order: Order
    ) -> list[SearchResult]:
        stored: dict[str, dict[str, Any]] = {}
        while True:
            near = found.points[:room]
            stored |= await self._payloads([point for point in near if point not in stored])
            judged = order(candidates(found, stored, room))
            placed = judged.placed(await self._likeness(judged.leaders, near))
            if len(placed) >= limit or room >= len(found.points):
                return await self._results(placed[:limit], stored)
            room *= 2  # many of them have the same text

    async def _candidates(
        self, query: EmbeddedQuery, words: Sequence[edge.SparseVector], reach: Reach, limit: int
    ) -> dict[str, Candidate]:
        """The best by any signal. Those found by another one get their cosine afterwards."""
        where = readable(reach.books, reach.hidden, conditions_of(query.filters))
        wanted = max(CANDIDATES, limit)
        vectors = [asked.vector for asked in query.texts]
        requests = [by_meaning(vector, where, wanted, words=True) for vector in vectors]
        requests += [by_words(each, where, wanted) for each in words if each.indices]
        answers = await self._ask(requests)
        found = {str(hit.id): words_of(hit) for hits in answers for hit in hits}
        near = [{str(hit.id): hit.score for hit in hits} for hits in answers[: len(vectors)]]
        cosines = await self._completed(near, vectors, found.keys())
        return {
            point: Candidate(tuple(each.get(point, 0.0) for each in cosines), weights)
            for point, weights in found.items()
        }

    async def _completed(
        self, near: Sequence[dict[str, float]], vectors: Sequence[Vector], found: Collection[str]
    ) -> list[dict[str, float]]:
        """The cosines to each vector, of all that were found."""
        missing = [[point for point in found if point not in known] for known in near]
        answers = iter(
            await self._ask(
                [
                    by_meaning(vector, among(points), len(points))
                    for vector, points in zip(vectors, missing, strict=True)
                    if points
                ]
            )
        )
        return [
            known | {str(hit.id): hit.score for hit in (next(answers) if points else ())}
            for known, points in zip(near, missing, strict=True)
        ]

    async def _ask(self, requests: Sequence[models.QueryRequest]) -> list[list[models.ScoredPoint]]:
        if not requests:
            return []
        answers = await self._connection.ask(
            lambda client: client.query_batch_points(self._collection, list(requests))
        )
        return [answer.points for answer in answers]

    async def _rarity_of(self, terms: Sequence[int], reach: Reach) -> Mapping[int, float]:
        """How rare each word is in the books themselves: what others write changes nothing."""
        known = self._rarity.known(reach)
        missing = [term for term in terms if term not in known]
        if missing:
            total, *having = await together(
                [self.count(reach), *(self.count(reach, term=term) for term in missing)]
            )
            learnt = {t: idf(total, n) for t, n in zip(missing, having, strict=True)}
            # What was known is kept: other searches may have pushed this state out meanwhile.
            known = {**known, **self._rarity.learn(reach, learnt)}
        return {term: known[term] for term in terms}

    async def _payloads(self, points: Sequence[str]) -> dict[str, dict[str, Any]]:
        if not points:
            return {}
        records = await self._connection.ask(
            lambda client: client.retrieve(self._collection, list(points), with_payload=SHOWN)
        )
        return {str(record.id): record.payload for record in records if record.payload}

    async def _results(
        self, placed: Sequence[Placed], stored: Mapping[str, Mapping[str, Any]]
    ) -> list[SearchResult]:
        """What is known of the winners, with their vectors."""
        vectors = await self._vectors([each.candidate.point for each in placed])
        return results_of(placed, stored, vectors)

    async def _likeness(self, leaders: Sequence[Hashable], points: Sequence[str]) -> Likeness:
        """How near the points are to the leaders, some of which may be gone meanwhile."""
        vectors = await self._vectors(leaders) if leaders else {}
        middle = middle_of([*vectors.values()])
        if middle is None:
            return {}
        (hits,) = await self._ask([by_meaning(middle.vector, among(points), len(points))])
        return middle.likeness({str(hit.id): hit.score for hit in hits})

    async def _vectors(self, points: Sequence[Hashable]) -> dict[str, tuple[float, ...]]:
        records = await self._connection.ask(
            lambda client: client.retrieve(
                self._collection,
                [str(point) for point in points],
                with_payload=False,
                with_vectors=[DENSE],
            )
        )
        return {str(record.id): dense_of(record) for record in records}

    async def matching(
        self, reach: Reach, conditions: Sequence[Condition], *, most: int | None = None
    ) -> list[SearchResult]:
        """Every chunk with these conditions, or so many, in no order and without a score."""
        where = readable(reach.books, reach.hidden, conditions)
        results: list[SearchResult] = []
        offset: Any = None
        while True:
            records, offset = await self._page(where, offset)
            results += [
                result_of(
                    record.payload or {},
                    similarity=0.0,
                    rank=len(results) + place,
                    rank_score=0.0,
                    vector=dense_of(record),
                )
                for place, record in enumerate(records, start=1)
            ]
            if offset is None or (most is not None and len(results) >= most):
                return results[:most]

    async def _page(self, where: models.Filter, offset: Any) -> tuple[list[models.Record], Any]:
        return await self._connection.ask(
            lambda client: client.scroll(
                self._collection,
                scroll_filter=where,
                limit=PAGE,
                offset=offset,
                with_payload=SHOWN,
                with_vectors=[DENSE],
            )
        )

    async def values(
        self, key: str, reach: Reach, conditions: Sequence[Condition] = ()
    ) -> dict[str, int]:
        """How many visible chunks have each value of a field."""
        where = readable(reach.books, reach.hidden, conditions)
        total = await self._count(where)
        if not total:
            return {}
        found = await self._connection.ask(
            lambda client: client.facet(
                self._collection, key, facet_filter=where, limit=total, exact=True
            )
        )
        return {str(hit.value): hit.count for hit in found.hits if hit.count}

    async def near(
        self, vector: Vector, reach: Reach, conditions: Sequence[Condition], *, threshold: float
    ) -> set[str]:
        """The texts that are at least so near, by their hashes."""
        where = readable(reach.books, reach.hidden, conditions)
        request = models.QueryRequest(
            query=list(vector),
            using=DENSE,
            filter=where,
            limit=MOST_COUNTED,
            score_threshold=threshold,
            with_payload=[CONTENT_HASH],
            params=models.SearchParams(exact=True),
        )
        (hits,) = await self._ask([request])
        return {str((hit.payload or {})[CONTENT_HASH]) for hit in hits}

    async def count(self, reach: Reach, *, term: int | None = None) -> int:
        """The visible chunks, or those of them that have a word."""
        where = readable(reach.books, reach.hidden)
        if term is not None:
            where = models.Filter(must=[where, has_number(TERMS, term)])
        return await self._count(where)

    async def _count(self, where: models.Filter) -> int:
        counted = await self._connection.ask(
            lambda client: client.count(self._collection, count_filter=where, exact=True)
        )
        return counted.count
