"""How the embedded index is read: candidates by meaning and by words, each scored by both."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

import qdrant_edge as edge

from rag_core.ports import EmbeddedQuery, Vector
from rag_core.providers.bm25 import MOST_WEIGHT, words_model
from rag_core.providers.conditions import Condition, conditions_of
from rag_core.providers.edge_filters import readable
from rag_core.providers.payload import result_of, unpacked
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.scoring import Signals, Standing, standing

DENSE, WORDS = "dense", "words"
CANDIDATES = 100
REMEMBERED_TERMS = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Where one search may look."""

    books: tuple[str, ...]
    hidden: frozenset[str]
    generation: int
    """Counts the changes of the index: what was learnt of its words holds for one state of it."""


class EdgeSearch:
    """Reads the engine; everything here blocks and may run in several threads."""

    def __init__(self, shard: edge.EdgeShard) -> None:
        self._shard = shard
        self._words = words_model()
        self._rarity = TermRarity()

    def search(self, query: EmbeddedQuery, reach: Reach, limit: int) -> list[SearchResult]:
        where = readable(reach.books, reach.hidden, conditions_of(query.filters))
        scored = self._scored(query, where, reach, max(CANDIDATES, limit))
        best = sorted(scored, key=lambda point: (-scored[point].fused, point))
        results: list[SearchResult] = []
        for result in self._unique(best, scored):
            results.append(result)
            if len(results) == limit:
                break
        return results

    def _scored(
        self,
        query: EmbeddedQuery,
        where: edge.Filter,
        reach: Reach,
        candidates: int,
    ) -> dict[str, Standing]:
        """The best by any signal, all of them scored by all."""
        words = [self._words.embed_query(asked.text) for asked in query.texts]
        meant = [self._by_meaning(asked.vector) for asked in query.texts]
        signals = [*meant, *(self._by_words(each, reach) for each in words)]
        found = self._ask(signals, where, candidates)
        union = sorted({point for scores in found for point in scores})
        if not union:
            return {}
        chosen = edge.Filter(must=[edge.HasIdCondition(set(union))])
        scores = self._ask(signals, chosen, len(union))
        cosines, weights = scores[: len(meant)], scores[len(meant) :]
        bounds = [MOST_WEIGHT * self._rarity_of(each, reach) for each in words]
        return {
            point: standing(
                [
                    Signals(
                        cosine=cosine.get(point, 0.0),
                        words=weight.get(point, 0.0) / bound if bound > 0 else 0.0,
                    )
                    for cosine, weight, bound in zip(cosines, weights, bounds, strict=True)
                ]
            )
            for point in union
        }

    def _ask(
        self, signals: Sequence[Asked | None], where: edge.Filter, limit: int
    ) -> list[dict[str, float]]:
        """Scores by point for each signal; none for a question without a known word."""
        requests = [
            edge.QueryRequest(limit=limit, query=asked.query, filter=where, params=asked.params)
            for asked in signals
            if asked is not None
        ]
        answers = iter(self._shard.query_batch(edge.QueryBatchRequest(requests)))
        return [
            {str(hit.id): hit.score for hit in next(answers)} if asked is not None else {}
            for asked in signals
        ]

    def _by_meaning(self, vector: Vector) -> Asked:
        return Asked(edge.Query.Nearest(list(vector), using=DENSE))

    def _by_words(self, words: edge.SparseVector, reach: Reach) -> Asked | None:
        if not words.indices:
            return None
        return Asked(edge.Query.Nearest(words, using=WORDS), own_idf(reach))

    def _rarity_of(self, words: edge.SparseVector, reach: Reach) -> float:
        """The sum of the question's idf values, by the engine's own counting."""
        known = self._rarity.known(reach)
        missing = [term for term in words.indices if term not in known]
        if missing:
            known = self._rarity.learnt(
                reach, zip(missing, self._probed(missing, reach), strict=True)
            )
        return sum(known.get(term, 0.0) for term in words.indices)

    def _probed(self, terms: list[int], reach: Reach) -> Iterator[float]:
        """The idf of each term: the score of its best passage, divided by its weight there."""
        where = readable(reach.books, reach.hidden)
        requests = [
            edge.QueryRequest(
                limit=1,
                query=edge.Query.Nearest(edge.SparseVector([term], [1.0]), using=WORDS),
                filter=where,
                params=own_idf(reach),
                with_vector=[WORDS],
            )
            for term in terms
        ]
        answers = self._shard.query_batch(edge.QueryBatchRequest(requests))
        for term, hits in zip(terms, answers, strict=True):
            yield hits[0].score / weight_of(hits[0], term) if hits else 0.0

    def _unique(self, points: list[str], scored: dict[str, Standing]) -> Iterator[SearchResult]:
        """Results in order; of passages with the same text only the best."""
        seen: set[str] = set()
        rank = 1
        for start in range(0, len(points), CANDIDATES):
            part = points[start : start + CANDIDATES]
            records = self._shard.retrieve(list(part), with_payload=True, with_vector=[DENSE])
            stored = {str(record.id): record for record in records}
            for point in part:
                record = stored.get(point)
                payload = record.payload if record else None
                if record is None or payload is None or payload["content_hash"] in seen:
                    continue
                seen.add(payload["content_hash"])
                yield result_of(
                    unpacked(payload),
                    similarity=scored[point].question.cosine,
                    rank=rank,
                    rank_score=scored[point].fused,
                    vector=dense_of(record),
                )
                rank += 1

    def matching(self, reach: Reach, conditions: Sequence[Condition]) -> list[SearchResult]:
        """Every chunk with these conditions, in no order and without a score."""
        where = readable(reach.books, reach.hidden, conditions)
        results: list[SearchResult] = []
        offset = None
        while True:
            records, offset = self._shard.scroll(
                edge.ScrollRequest(
                    offset=offset, limit=256, filter=where, with_payload=True, with_vector=[DENSE]
                )
            )
            for record in records:
                results.append(
                    result_of(
                        unpacked(record.payload or {}),
                        similarity=0.0,
                        rank=len(results) + 1,
                        rank_score=0.0,
                        vector=dense_of(record),
                    )
                )
            if offset is None:
                return results

    def values(self, key: str, reach: Reach) -> dict[str, int]:
        """How many visible chunks have each value of a field."""
        where = readable(reach.books, reach.hidden)
        total = self._shard.count(edge.CountRequest(filter=where))
        if not total:
            return {}
        found = self._shard.facet(edge.FacetRequest(key, limit=total, exact=True, filter=where))
        return {str(hit.value): hit.count for hit in found.hits if hit.count}

    def count(self, reach: Reach) -> int:
        return self._shard.count(edge.CountRequest(filter=readable(reach.books, reach.hidden)))


@dataclass(frozen=True, slots=True)
class Asked:
    """One signal's question to the engine."""

    query: edge.Query
    params: edge.SearchParams | None = None


class TermRarity:
    """What is known of how rare words are in some books, for the present state of the index."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._generation = -1
        self._by_books: OrderedDict[tuple[str, ...], dict[int, float]] = OrderedDict()

    def known(self, reach: Reach) -> dict[int, float]:
        with self._lock:
            if reach.generation != self._generation:
                self._by_books.clear()
                self._generation = reach.generation
            return self._by_books.get(reach.books, {})

    def learnt(self, reach: Reach, terms: Iterator[tuple[int, float]]) -> dict[int, float]:
        new = dict(terms)
        with self._lock:
            known = self._by_books.setdefault(reach.books, {})
            merged = new if len(known) > REMEMBERED_TERMS else known | new
            if reach.generation == self._generation:
                self._by_books[reach.books] = merged
            return known | new


def own_idf(reach: Reach) -> edge.SearchParams:
    """Words are as rare as they are in the caller's own books; foreign ones change nothing."""
    return edge.SearchParams(idf=edge.IdfParams(corpus=readable(reach.books, reach.hidden)))


def weight_of(hit: edge.ScoredPoint, term: int) -> float:
    vector = hit.vector[WORDS] if isinstance(hit.vector, dict) else None
    if not isinstance(vector, edge.SparseVector):
        raise TypeError("the engine left out the vector that was asked for")
    return vector.values[vector.indices.index(term)]


def dense_of(record: edge.Record) -> tuple[float, ...]:
    vector = record.vector[DENSE] if isinstance(record.vector, dict) else None
    return tuple(vector) if isinstance(vector, list) else ()  # type: ignore[arg-type]
