"""Puts questions together that ask for the same thing, by meaning and by their words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.insight.agreement import agreement
from rag_core.insight.communities import Labels, Matrix
from rag_core.insight.joining import cores, joined

MEANING = 0.7
"""How much the vectors count; the rest is shared words, the rare ones above all."""
COMMON, COMMON_OF_FEW, MOST_OF_FEW = 8, 5, 0.6
"""What all questions share is taken out of their vectors, the more the more there are. With so many
questions it is half of it; with few it is a little more, as all texts have something in common."""


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
    # However they came in: the same questions make the same groups.
    order = sorted(range(len(questions)), key=lambda place: tuple(questions[place].vector))
    rank = {place: number for number, place in enumerate(order)}
    blocks = [tuple(rank[place] for place in block) for block in judged]
    fixed = {place for block in blocks for place in block}
    blocks += [(place,) for place in range(len(questions)) if place not in fixed]
    rows = features([questions[place] for place in order], without_common=True)
    agreed = agreement(rows, numbered(blocks, len(rows)))
    groups = cores(agreed, joined(agreed, blocks, apart=len(judged)), fixed=fixed)
    return [tuple(sorted(order[place] for place in group)) for group in groups]


def numbered(blocks: Sequence[tuple[int, ...]], length: int) -> Labels:
    """The number of the block that each question is in."""
    numbers = np.zeros(length, dtype=np.intp)
    for number, block in enumerate(blocks):
        numbers[list(block)] = number
    return numbers


def closeness(questions: Sequence[Worded]) -> list[float]:
    """For each question of one group how near to the middle of the group it is."""
    rows = features(questions)
    means: list[float] = (rows @ rows.mean(axis=0)).tolist()
    return means


def features(questions: Sequence[Worded], *, without_common: bool = False) -> Matrix:
    """One row a question; the product of two rows says how alike the two are."""
    vectors = unit(np.array([question.vector for question in questions], dtype=np.float64))
    if without_common:
        count = len(vectors)
        of_few = min(MOST_OF_FEW, count / (count + COMMON_OF_FEW))
        share = max(of_few, count / (count + COMMON))
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
