"""How rare words are in the books that are searched, by the embedded engine's own counting."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import qdrant_edge as edge

from rag_core.providers.edge.filters import readable
from rag_core.providers.index.bm25 import idf

WORDS = "words"
REMEMBERED_TERMS = 10_000
REMEMBERED_BOOKS = 256
COMMON = 10
"""A word that one passage in ten has is not counted one by one: the engine goes over all then."""
SELDOM = 100
"""Most words that are new are in fewer passages than this: to ask for no more takes a third."""
NOTHING = edge.Filter(must=[edge.HasIdCondition({0})])
TOTAL = -1
"""Stands among the terms for the number of all passages; no term is negative."""
RARITY_OF_ALL_IN_NOTHING = math.log(2)
"""What the engine takes every word's idf for when it counts among no passages at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Where one search may look."""

    books: tuple[str, ...]
    hidden: frozenset[str]
    generation: int
    """Counts the changes of what readers see: what was learnt of words holds for one state."""


class TermRarity:
    """What is known of how rare words are in some books, for the present state of the index."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._generation = -1
        self._by_books: OrderedDict[tuple[str, ...], dict[int, float]] = OrderedDict()

    def known(self, reach: Reach) -> Mapping[int, float]:
        with self._lock:
            if reach.generation > self._generation:
                self._by_books.clear()
                self._generation = reach.generation
            if reach.generation != self._generation:
                return {}
            return self._by_books.get(reach.books, {})

    def learnt(self, reach: Reach, terms: Mapping[int, float]) -> Mapping[int, float]:
        """What is known now. Terms that no passage has are known too: their rarity is 0."""
        with self._lock:
            if reach.generation != self._generation:
                return terms
            known = self._by_books.pop(reach.books, {})
            if len(known) > REMEMBERED_TERMS:
                known = {}
            known.update(terms)
            self._by_books[reach.books] = known
            if len(self._by_books) > REMEMBERED_BOOKS:
                self._by_books.popitem(last=False)
            return known


class Counting:
    """Counts in how many passages of some books words are. Blocks."""

    def __init__(self, shard: edge.EdgeShard, reach: Reach) -> None:
        self._shard = shard
        self._where = readable(reach.books, reach.hidden)

    def total(self) -> int:
        return self._shard.count(edge.CountRequest(filter=self._where))

    def rarity(self, terms: Sequence[int], total: int) -> dict[int, float]:
        """The idf of each term, 0 where no passage has it. Most terms that are new are rare, and
        to count what is found takes a tenth of the time of going over all passages."""
        few = total // COMMON + 1
        counted: dict[int, float] = {}
        for most in sorted({min(SELDOM, few), few}):
            left = [term for term in terms if term not in counted]
            found = self._ask([self._holders(term, most) for term in left])
            counted |= {
                term: idf(total, len(hits)) if hits else 0.0
                for term, hits in zip(left, found, strict=True)
                if len(hits) < most
            }
        return counted | self._probed([term for term in terms if term not in counted])

    def _probed(self, terms: Sequence[int]) -> dict[int, float]:
        """By the score of a term's best passage, divided by its weight there."""
        own_books = edge.SearchParams(idf=edge.IdfParams(corpus=self._where))
        found = self._ask([self._holders(term, 1, own_books) for term in terms])
        return {
            term: hits[0].score / weight_of(hits[0], term)
            for term, hits in zip(terms, found, strict=True)
        }

    def _holders(
        self, term: int, limit: int, params: edge.SearchParams | None = None
    ) -> edge.QueryRequest:
        return edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(edge.SparseVector([term], [1.0]), using=WORDS),
            filter=self._where,
            params=params,
            with_vector=[WORDS] if params else False,
        )

    def _ask(self, requests: list[edge.QueryRequest]) -> list[list[edge.ScoredPoint]]:
        return self._shard.query_batch(edge.QueryBatchRequest(requests)) if requests else []


def weighed(rarity: Mapping[int, float]) -> tuple[edge.SparseVector, edge.SearchParams]:
    """The words with the weights that were learnt, and the engine kept from counting anew.

    It would go over all passages of the books for that, with every search."""
    weights = [value / RARITY_OF_ALL_IN_NOTHING for value in rarity.values()]
    params = edge.SearchParams(idf=edge.IdfParams(corpus=NOTHING))
    return edge.SparseVector(list(rarity), weights), params


def weight_of(hit: edge.ScoredPoint, term: int) -> float:
    vector = hit.vector[WORDS] if isinstance(hit.vector, dict) else None
    if not isinstance(vector, edge.SparseVector):
        raise TypeError("the engine left out the vector that was asked for")
    return vector.values[vector.indices.index(term)]
