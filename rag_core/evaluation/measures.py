"""How good a ranking is, in the measures that others publish."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2


def ndcg(ranking: Sequence[str], relevant: Collection[str], *, at: int = 10) -> float:
    """Every relevant page counts the more the higher it stands; 1.0: all of them on top."""
    gained = sum(1 / log2(n + 2) for n, page in enumerate(ranking[:at]) if page in relevant)
    best = sum(1 / log2(n + 2) for n in range(min(len(relevant), at)))
    return gained / best if best else 0.0


def recall(ranking: Sequence[str], relevant: Collection[str], *, at: int = 5) -> float:
    """The share of the relevant pages that are among the first."""
    found = len(set(ranking[:at]) & set(relevant))
    return found / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str], *, at: int = 10) -> float:
    """One over the place of the first relevant page."""
    places = (n for n, page in enumerate(ranking[:at], start=1) if page in relevant)
    first = next(places, None)
    return 1 / first if first else 0.0


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """How often a value of the first kind is above one of the second; 0.5 is chance."""
    if not positive or not negative:
        return 0.0
    values = sorted([(value, 1) for value in positive] + [(value, 0) for value in negative])
    ranks = 0.0
    start = 0
    while start < len(values):
        end = start
        while end < len(values) and values[end][0] == values[start][0]:
            end += 1
        shared = (start + 1 + end) / 2  # equal values share their ranks
        ranks += shared * sum(kind for _, kind in values[start:end])
        start = end
    count = len(positive)
    return (ranks - count * (count + 1) / 2) / (count * len(negative))
