"""How rare words are in the books that are searched, by the embedded engine's counting."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from threading import Lock

import qdrant_edge as edge

from rag_core.providers.edge.filters import readable
from rag_core.providers.edge.signals import WORDS
from rag_core.providers.index.bm25 import idf

REMEMBERED_TERMS = 10_000
REMEMBERED_BOOKS = 256
COMMON = 10
"""A word that one passage in ten has is not counted one by one: the engine goes over all then."""
SELDOM = 100
"""Most words that are new are in fewer passages than this: to ask for no more takes a third."""
SAME, NEAR = 1e-5, 1e-2
"""How far the engine's own tally may be from that of what readers see to be taken for it: for rare
words too, or for the others. Passages that are gone are counted on until their place is tidied."""
NOTHING = edge.Filter(must=[edge.HasIdCondition({0})])
RARITY_OF_ALL_IN_NOTHING = math.log(2)
"""What the engine takes every word's idf for when it counts among no passages at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Where one search may look."""

    books: tuple[str, ...]
    hidden: frozenset[str]
    generation: int
    """Counts the changes of what readers see: what was learnt of words holds for one state."""


@dataclass(slots=True)
class Vocabulary:
    """What is known of the words of some books."""

    total: int
    """All passages of these books."""
    trusted: float | None
    """Up to which rarity the engine's own tally, of all that the index holds, is taken for that of
    these books: 0 where it holds others too, None as long as nobody has compared the two."""
    rarity: dict[int, float] = field(default_factory=dict)
    """The idf of each word that was asked for; 0 where no passage has it."""


class TermRarity:
    """What is known of how rare words are in some books, for the present state of the index."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._generation = -1
        self._by_books: OrderedDict[tuple[str, ...], Vocabulary] = OrderedDict()

    def of(self, terms: Sequence[int], reach: Reach, shard: edge.EdgeShard) -> Vocabulary:
        """What is known of the books, these words included. Blocks."""
        known = self._known(reach)
        missing = [term for term in terms if known is None or term not in known.rarity]
        if known is not None and not missing:
            return known
        counting = Counting(shard, reach)
        if known is None or len(known.rarity) > REMEMBERED_TERMS:
            known, missing = counting.begun(), list(terms)
        counting.learn(missing, known)
        self._keep(reach, known)
        return known

    def _known(self, reach: Reach) -> Vocabulary | None:
        with self._lock:
            if reach.generation > self._generation:
                self._by_books.clear()
                self._generation = reach.generation
            return self._by_books.get(reach.books) if reach.generation == self._generation else None

    def _keep(self, reach: Reach, known: Vocabulary) -> None:
        with self._lock:
            if reach.generation != self._generation:
                return
            self._by_books[reach.books] = known
            self._by_books.move_to_end(reach.books)
            if len(self._by_books) > REMEMBERED_BOOKS:
                self._by_books.popitem(last=False)


class Counting:
    """Counts in how many passages of some books words are. Blocks."""

    def __init__(self, shard: edge.EdgeShard, reach: Reach) -> None:
        self._shard = shard
        self._reach = reach
        self._where = readable(reach.books, reach.hidden)

    def begun(self) -> Vocabulary:
        total = self._shard.count(edge.CountRequest(filter=self._where))
        holds_more = self._reach.hidden or self._shard.info().points_count != total
        return Vocabulary(total, trusted=0.0 if holds_more else None)

    def learn(self, terms: Sequence[int], known: Vocabulary) -> None:
        """How rare these words are."""
        told = {} if known.trusted == 0.0 else self._told(terms, known)
        left = [term for term in terms if term not in told]
        known.rarity.update(told | self._counted(left, known.total))

    def _told(self, terms: Sequence[int], known: Vocabulary) -> dict[int, float]:
        """What the engine's own tally tells well enough. It takes a tenth of counting, and a
        hundredth where a word is in many passages."""
        tally = self._by_best(terms, edge.SearchParams())
        if known.trusted is None and any(tally.values()):
            known.trusted = self._trusted(tally, known.total)
        most = known.trusted or 0.0
        return {term: value for term, value in tally.items() if value <= most}

    def _trusted(self, tally: Mapping[int, float], total: int) -> float:
        """Compares the two for one word: whatever else the index holds would change both."""
        term, told = max(tally.items(), key=itemgetter(1))
        own = self._probed([term])[term]
        if math.isclose(told, own, rel_tol=SAME):
            return math.inf
        return idf(total, SELDOM) if math.isclose(told, own, rel_tol=NEAR) else 0.0

    def _counted(self, terms: Sequence[int], total: int) -> dict[int, float]:
        """Most terms that are new are rare, and to count what is found takes a tenth of the time
        of going over all passages."""
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
        """By a tally of the books' passages, for which the engine goes over all of them."""
        return self._by_best(terms, edge.SearchParams(idf=edge.IdfParams(corpus=self._where)))

    def _by_best(self, terms: Sequence[int], params: edge.SearchParams) -> dict[int, float]:
        """By the score of a term's best passage, divided by its weight there; 0 without one."""
        found = self._ask([self._holders(term, 1, params) for term in terms])
        return {
            term: hits[0].score / weight_of(hits[0], term) if hits else 0.0
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
