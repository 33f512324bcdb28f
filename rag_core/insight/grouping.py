"""Puts questions together that ask for the same thing, by meaning and by their words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.insight.settling import settled

Matrix = NDArray[np.float64]

MEANING = 0.7
"""How much the vectors count; the rest is shared words, the rare ones above all."""
COMMON = 20
"""What all questions share is taken out of their vectors; with so few questions, half of it."""
LOOSER = 0.6
"""Two groups are one when their questions are at least this alike, as a share of how alike the
questions inside each group are: so a narrow field is cut as finely as a wide one."""
USUAL = 0.45
"""How alike the questions of one group usually are: what is believed of a lone question."""
BELIEF = 20
"""How many pairs of questions it takes to outweigh what is usual."""
LEAST = 0.1
"""Below this, questions have nothing to do with each other."""
APART = -math.inf
"""Stands where two groups can never be put together; it outlasts every mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """A question as it is compared."""

    vector: Sequence[float]
    terms: tuple[int, ...]


def grouped(
    questions: Sequence[Worded], *, judged: Sequence[Sequence[int]] = ()
) -> list[tuple[int, ...]]:
    """The groups, as places in the sequence; the judged ones grow, and never become one."""
    if not questions:
        return []
    blocks = [tuple(block) for block in judged]
    bound = {place for block in blocks for place in block}
    blocks += [(place,) for place in range(len(questions)) if place not in bound]
    rows = features(questions, without_common=True)
    groups = Groups(rows @ rows.T, blocks, apart=len(judged)).joined()
    return settled(rows, groups, judged=len(judged), fixed=bound)


def closeness(questions: Sequence[Worded]) -> list[float]:
    """For each question of one group how near to the middle of the group it is."""
    rows = features(questions)
    means: list[float] = (rows @ rows.mean(axis=0)).tolist()
    return means


def features(questions: Sequence[Worded], *, without_common: bool = False) -> Matrix:
    """One row a question; the product of two rows says how alike the two are."""
    vectors = unit(np.array([question.vector for question in questions], dtype=np.float64))
    if without_common:
        share = len(vectors) / (len(vectors) + COMMON)
        vectors = unit(vectors - vectors.mean(axis=0) * share)
    words = unit(word_weights([set(question.terms) for question in questions]))
    both: Matrix = np.hstack([math.sqrt(MEANING) * vectors, math.sqrt(1 - MEANING) * words])
    return both


def word_weights(texts: Sequence[set[int]]) -> Matrix:
    """One row a text, one column a word; a word counts the more the fewer texts have it."""
    spread = Counter(word for text in texts for word in text)
    column = {word: place for place, word in enumerate(sorted(spread))}
    weights = np.zeros((len(texts), max(1, len(column))))
    for row, text in enumerate(texts):
        for word in text:
            weights[row, column[word]] = math.log(1 + len(texts) / spread[word])
    return weights


def unit(rows: Matrix) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)


class Groups:
    """Groups that grow: the two that are most alike for their kind become one, until none are."""

    def __init__(
        self, between: Matrix, blocks: Sequence[tuple[int, ...]], *, apart: int = 0
    ) -> None:
        self._members: list[tuple[int, ...]] = list(blocks)
        belongs = np.zeros((len(blocks), len(between)))
        for row, block in enumerate(blocks):
            belongs[row, list(block)] = 1
        self._sizes = belongs.sum(axis=1)
        sums = belongs @ between @ belongs.T
        self._alike = sums / np.outer(self._sizes, self._sizes)
        self._pairs = self._sizes * (self._sizes - 1) / 2
        self._inner = (np.diag(sums) - belongs @ np.diag(between)) / 2
        np.fill_diagonal(self._alike, APART)
        self._alike[:apart, :apart] = APART
        self._margin = self._alike - self._asked()

    def _cohesion(self) -> NDArray[np.float64]:
        """How alike the questions of each group are among themselves."""
        usual: NDArray[np.float64] = (self._inner + BELIEF * USUAL) / (self._pairs + BELIEF)
        return usual

    def _asked(self) -> Matrix:
        """How alike each two groups must be to become one."""
        cohesion = self._cohesion()
        return np.maximum(LEAST, LOOSER * (cohesion[:, None] + cohesion[None, :]) / 2)

    def joined(self) -> list[tuple[int, ...]]:
        while True:
            one, other = divmod(int(self._margin.argmax()), len(self._members))
            if self._margin[one, other] < 0:
                return [tuple(sorted(group)) for group in self._members if group]
            self._join(one, other)

    def _join(self, one: int, other: int) -> None:
        sizes, alike = self._sizes, self._alike
        between = sizes[one] * sizes[other]
        self._inner[one] += self._inner[other] + alike[one, other] * between
        self._pairs[one] += self._pairs[other] + between
        row = (alike[one] * sizes[one] + alike[other] * sizes[other]) / (sizes[one] + sizes[other])
        sizes[one] += sizes[other]
        self._members[one] += self._members[other]
        self._members[other] = ()
        row[[one, other]] = APART
        row[[place for place, group in enumerate(self._members) if not group]] = APART
        alike[one], alike[:, one] = row, row
        alike[other], alike[:, other] = APART, APART
        cohesion = self._cohesion()
        asked = np.maximum(LEAST, LOOSER * (cohesion[one] + cohesion) / 2)
        self._margin[one] = self._margin[:, one] = row - asked
        self._margin[other] = self._margin[:, other] = APART
