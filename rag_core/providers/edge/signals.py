"""What a search asks the embedded engine, by meaning and by words, and what it hears."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import qdrant_edge as edge
from numpy.typing import NDArray

from rag_core.ports import Vector
from rag_core.retrieval.scoring import Signals

DENSE, WORDS = "dense", "words"
BY_THE_VECTORS = edge.SearchParams(quantization=edge.QuantizationSearchParams(rescore=True))
"""Scores are cosines, however what has them was found."""


class Answer(NamedTuple):
    """Points, and the score of each by one signal."""

    points: list[int]
    scores: list[float]

    def by_point(self) -> dict[int, float]:
        return dict(zip(self.points, self.scores, strict=True))

    def numbers(self) -> NDArray[np.uint64]:
        return np.array(self.points, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Asked:
    """One signal's question to the engine."""

    query: edge.Query
    params: edge.SearchParams | None = None
    bound: float = 1.0
    """The most that a passage's words could reach, if it had those too that no passage has."""

    def among(self, where: edge.Filter, limit: int) -> edge.QueryRequest:
        return edge.QueryRequest(limit=limit, query=self.query, filter=where, params=self.params)

    def answer(self, hits: Sequence[edge.ScoredPoint]) -> Answer:
        # The engine's own types allow for ids that this index does not have.
        points: list[Any] = [hit.id for hit in hits]
        return Answer(points, [hit.score / self.bound for hit in hits])


@dataclass(frozen=True, slots=True)
class Heard:
    """Points that signals brought, and what each signal says of each."""

    asked: Sequence[Asked | None]
    """None: no book has any of the words, so that all points have nothing of them."""
    points: NDArray[np.uint64]
    """In order."""
    signals: Signals

    @classmethod
    def of(cls, asked: Sequence[Asked | None], answers: Sequence[Answer | None]) -> Heard:
        points = each_once([answer.numbers() for answer in answers if answer])
        signals = np.zeros((len(asked), len(points)))
        signals[[each is not None for each in asked]] = np.nan
        return cls(asked, points, with_answers(signals, points, answers))

    def noting(self, answers: Sequence[Answer | None]) -> Heard:
        signals = with_answers(self.signals.copy(), self.points, answers)
        return Heard(self.asked, self.points, signals)

    def only(self, kept: NDArray[np.bool_]) -> Heard:
        return Heard(self.asked, self.points[kept], self.signals[:, kept])

    def missing(self) -> list[list[int]]:
        """For each signal the points that only others brought."""
        unknown = np.isnan(self.signals)
        return [self.points[row].tolist() for row in unknown] if unknown.any() else []


def each_once(points: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """All points in order, in a fourth of the time that numpy's own function takes."""
    together = np.sort(np.concatenate(points))
    is_new = np.ones(len(together), dtype=np.bool_)
    is_new[1:] = together[1:] != together[:-1]
    return together[is_new]


def with_answers(
    signals: Signals, points: NDArray[np.uint64], answers: Sequence[Answer | None]
) -> Signals:
    """The same rows, filled with what was answered."""
    for row, answer in zip(signals, answers, strict=True):
        if answer:
            row[points.searchsorted(answer.numbers())] = answer.scores
    return signals


def by_meaning(vector: Vector) -> Asked:
    return Asked(edge.Query.Nearest(list(vector), using=DENSE), BY_THE_VECTORS)


def numbered(points: Collection[int]) -> edge.Filter:
    """These points alone."""
    return edge.Filter(must=[edge.HasIdCondition({*points})])
