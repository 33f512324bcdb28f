"""How the embedded index is read: candidates by meaning and by words, each scored by both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import qdrant_edge as edge

from rag_core.ports import EmbeddedQuery, Vector
from rag_core.ports.vectors import MOST_COUNTED
from rag_core.providers.edge.filters import readable
from rag_core.providers.edge.rarity import Reach, TermRarity, weighed
from rag_core.providers.edge.signals import DENSE, WORDS, Answer, Asked, Heard, by_meaning, numbered
from rag_core.providers.index.bm25 import MOST_WEIGHT, idf, words_model
from rag_core.providers.index.conditions import Condition, conditions_of
from rag_core.providers.index.known import Known
from rag_core.providers.index.payload import candidates, opened, result_of, results_of, unpacked
from rag_core.retrieval.candidates import Order, Placed
from rag_core.retrieval.likeness import Likeness, middle_of
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.scoring import Ranked, contenders, ranked, ranked_alone

CANDIDATES = 100
CONTENT_HASH = "content_hash"
PAGE = 256
REMEMBERED = 4_096
"""Passages that are kept as they were read: some megabytes."""

REMEMBERED_FIELDS = 256
"""Questions after the values of a field, such as which modules there are."""


class EdgeSearch:
    """Reads the engine; everything here blocks and may run in several threads."""

    def __init__(self, shard: edge.EdgeShard) -> None:
        self._shard = shard
        self._words = words_model()
        self._rarity = TermRarity()
        self._known: Known[int, dict[str, Any]] = Known(REMEMBERED)
        self._counted: Known[tuple[str, tuple[str, ...], tuple[Condition, ...]], dict[str, int]] = (
            Known(REMEMBERED_FIELDS)
        )

    def moved_to(self, shard: edge.EdgeShard) -> None:
        """Read the same points in another place."""
        self._shard = shard

    def search(
        self, query: EmbeddedQuery, reach: Reach, *, limit: int, pool: int, order: Order
    ) -> list[SearchResult]:
        where = readable(reach.books, reach.hidden, conditions_of(query.filters))
        wide = max(CANDIDATES, pool, limit) if query.text or query.thread else max(pool, limit)
        heard = self._heard(query, where, reach, wide)
        room = max(pool, limit)
        while True:
            found = self._ranked(heard, room, query.cosine_weight)
            near = found.points[:room]
            stored = self._stored(near, reach)
            judged = order(candidates(found, stored, room))
            placed = judged.placed(self._likeness(judged.leaders, near))
            if len(placed) >= limit or room >= len(heard.points):
                return self._results(placed[:limit], stored)
            room *= 2  # many of them have the same text

    def _heard(
        self, query: EmbeddedQuery, where: edge.Filter, reach: Reach, wide: int
    ) -> Heard | Answer:
        """The best by each signal; the answer itself where meaning alone is asked."""
        signals = [
            *(by_meaning(asked.vector) for asked in query.texts),
            *(self._by_words(asked.text, reach) for asked in query.texts),
        ]
        requests = [asked.among(where, wide) if asked else None for asked in signals]
        meaning, *others = answers = self._ask(signals, requests)
        return Heard.of(signals, answers) if meaning is None or any(others) else meaning

    def _ranked(self, heard: Heard | Answer, room: int, cosine_weight: float) -> Ranked[int]:
        """The best `room` by all signals, and some that might have been among them."""
        if isinstance(heard, Answer):
            return ranked_alone(heard.by_point(), cosine_weight)
        if len(heard.points) > room:
            heard = heard.only(contenders(heard.signals, room=room, cosine_weight=cosine_weight))
        heard = self._completed(heard)
        return ranked(heard.points.tolist(), heard.signals, cosine_weight)

    def _completed(self, heard: Heard) -> Heard:
        """With every signal's scores, also of points that only another one brought."""
        missing = heard.missing()
        if not missing:
            return heard
        requests = [
            asked.among(numbered(lacking), len(lacking)) if asked and lacking else None
            for asked, lacking in zip(heard.asked, missing, strict=True)
        ]
        return heard.noting(self._ask(heard.asked, requests))

    def _ask(
        self, signals: Sequence[Asked | None], requests: Sequence[edge.QueryRequest | None]
    ) -> list[Answer | None]:
        """Each signal's answer to its request; none where there is none."""
        asked = [each for each in requests if each is not None]
        answers = iter(self._shard.query_batch(edge.QueryBatchRequest(asked)) if asked else ())
        return [
            signal.answer(next(answers)) if signal and request else None
            for signal, request in zip(signals, requests, strict=True)
        ]

    def _by_words(self, text: str, reach: Reach) -> Asked | None:
        """None for a text without a word that the books have."""
        terms = self._words.embed_query(text).indices if text else []
        if not terms:
            return None
        known = self._rarity.of(terms, reach, self._shard)
        rarity = {term: known.rarity[term] for term in terms if known.rarity[term]}
        if not rarity:
            return None
        words, params = weighed(rarity)
        nowhere = (len(terms) - len(rarity)) * idf(known.total, 0)
        bound = MOST_WEIGHT * (sum(rarity.values()) + nowhere)
        return Asked(edge.Query.Nearest(words, using=WORDS), params, bound)

    def _stored(self, points: Sequence[int], reach: Reach) -> dict[int, dict[str, Any]]:
        known = self._known.of(reach.generation)
        missing: list[Any] = [point for point in points if point not in known]
        if missing:
            records = self._shard.retrieve(missing, with_payload=True, with_vector=False)
            known |= {int(record.id): opened(record.payload or {}) for record in records}
        return {point: known[point] for point in points if point in known}

    def _likeness(self, leaders: Sequence[Any], points: Sequence[int]) -> Likeness:
        """How near the points are to the leaders, some of which may be gone meanwhile."""
        if not leaders:
            return {}
        records = self._shard.retrieve(list(leaders), with_payload=False, with_vector=[DENSE])
        middle = middle_of([dense_of(record) for record in records])
        if middle is None:
            return {}
        asked = by_meaning(middle.vector)
        (hits,) = self._shard.query_batch(
            edge.QueryBatchRequest([asked.among(numbered(points), len(points))])
        )
        return middle.likeness(asked.answer(hits).by_point())

    def _results(
        self, placed: Sequence[Placed], stored: Mapping[int, Mapping[str, Any]]
    ) -> list[SearchResult]:
        """What is known of the winners, with their vectors."""
        points: list[Any] = [each.candidate.point for each in placed]
        records = self._shard.retrieve(points, with_payload=False, with_vector=[DENSE])
        vectors = {record.id: dense_of(record) for record in records}
        whole = {point: unpacked(stored[point]) for point in points}
        return results_of(placed, whole, vectors)

    def matching(
        self, reach: Reach, conditions: Sequence[Condition], *, most: int | None = None
    ) -> list[SearchResult]:
        """Every chunk with these conditions, or so many, in no order and without a score."""
        return self._unscored(readable(reach.books, reach.hidden, conditions), most)

    def those(self, reach: Reach, points: Collection[int]) -> list[SearchResult]:
        """The chunks of these numbers that readers see, in no order and without a score."""
        seen = readable(reach.books, reach.hidden)
        return self._unscored(edge.Filter(must=[seen, edge.HasIdCondition({*points})]))

    def _unscored(self, where: edge.Filter, most: int | None = None) -> list[SearchResult]:
        return [
            result_of(
                unpacked(opened(record.payload or {})),
                similarity=0.0,
                rank=rank,
                rank_score=0.0,
                vector=dense_of(record),
            )
            for rank, record in enumerate(islice(self._records(where), most), start=1)
        ]

    def _records(self, where: edge.Filter) -> Iterator[edge.Record]:
        offset = None
        while True:
            records, offset = self._shard.scroll(
                edge.ScrollRequest(
                    offset=offset, limit=PAGE, filter=where, with_payload=True, with_vector=[DENSE]
                )
            )
            yield from records
            if offset is None:
                return

    def values(
        self, key: str, reach: Reach, conditions: Sequence[Condition] = ()
    ) -> dict[str, int]:
        """How many visible chunks have each value of a field. The engine goes over all of them,
        so it is asked once."""
        known = self._counted.of(reach.generation)
        name = key, reach.books, tuple(conditions)
        if name not in known:
            known[name] = self._values_of(key, reach, conditions)
        return known[name]

    def _values_of(self, key: str, reach: Reach, conditions: Sequence[Condition]) -> dict[str, int]:
        where = readable(reach.books, reach.hidden, conditions)
        total = self._shard.count(edge.CountRequest(filter=where))
        if not total:
            return {}
        found = self._shard.facet(edge.FacetRequest(key, limit=total, exact=True, filter=where))
        return {str(hit.value): hit.count for hit in found.hits if hit.count}

    def near(
        self, vector: Vector, reach: Reach, conditions: Sequence[Condition], *, threshold: float
    ) -> set[str]:
        """The texts that are at least so near, by their hashes."""
        where = readable(reach.books, reach.hidden, conditions)
        total = min(MOST_COUNTED, self._shard.count(edge.CountRequest(filter=where)))
        if not total:
            return set()
        asked = edge.QueryRequest(
            limit=total,
            query=edge.Query.Nearest(list(vector), using=DENSE),
            filter=where,
            score_threshold=threshold,
            with_payload=[CONTENT_HASH],
            params=edge.SearchParams(exact=True),
        )
        (hits,) = self._shard.query_batch(edge.QueryBatchRequest([asked]))
        return {str((hit.payload or {})[CONTENT_HASH]) for hit in hits}

    def count(self, reach: Reach) -> int:
        return self._shard.count(edge.CountRequest(filter=readable(reach.books, reach.hidden)))


def dense_of(record: edge.Record) -> Sequence[float]:
    vectors = record.vector  # made anew by the engine each time it is asked for
    vector = vectors[DENSE] if isinstance(vectors, dict) else None
    # The engine's own types allow for vectors of vectors.
    return vector if isinstance(vector, list) else ()  # type: ignore[return-value]  # wider
