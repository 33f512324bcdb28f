"""How rare words are in what one search may see, for the states of the index searched last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from rag_core.providers.index.bm25 import MOST_WEIGHT

REMEMBERED_STATES = 64
REMEMBERED_TERMS = 10_000


@dataclass(frozen=True, slots=True)
class Reach:
    """Where one search may look, and in which state of the index."""

    books: tuple[str, ...]
    hidden: frozenset[str]
    generations: tuple[int, ...]


class Rarity:
    """How rare words are, for the states of the index that were searched last."""

    def __init__(self) -> None:
        self._by_reach: OrderedDict[Reach, dict[int, float]] = OrderedDict()

    def known(self, reach: Reach) -> Mapping[int, float]:
        return self._by_reach.get(reach, {})

    def learn(self, reach: Reach, terms: Mapping[int, float]) -> Mapping[int, float]:
        known = self._by_reach.pop(reach, {}) | dict(terms)
        if len(known) <= REMEMBERED_TERMS:
            self._by_reach[reach] = known
        while len(self._by_reach) > REMEMBERED_STATES:
            self._by_reach.popitem(last=False)
        return known


def share(words: Mapping[int, float], rarity: Mapping[int, float]) -> float:
    """BM25 divided by the most that any passage could reach."""
    most = MOST_WEIGHT * sum(rarity.values())
    weight = sum(words.get(term, 0.0) * rare for term, rare in rarity.items())
    return weight / most if most > 0 else 0.0
