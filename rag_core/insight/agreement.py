"""How many of many views agree that two questions belong together.

One view of short questions errs; where views of different halves of their features agree, they
do not err alike. Each view links every question to its nearest few, so that dense and thin
topics are told alike, and finds the communities of that graph."""

from __future__ import annotations

import numpy as np

from rag_core.insight.communities import Labels, Matrix, communities

VIEWS = 60
PARTS = 8
"""The features are dealt into so many parts; a view sees half of them."""
NEIGHBOURS = (8, 12)
FINER = (1.5, 3.0)
"""Each view cuts at its own grain."""
LEAST = 0.1
"""Questions that are less alike have nothing to do with each other."""
WORLD = 60
"""Fewer questions are taken for some of so many: a handful may well ask for one thing."""
SEED = 11


def agreement(rows: Matrix, start: Labels) -> Matrix:
    """For each two questions the share of views that put them together, 0 to 1."""
    draws = np.random.default_rng(SEED)
    parts = [part @ part.T for part in dealt(rows, draws)]
    votes = np.zeros((len(rows), len(rows)))
    for _ in range(VIEWS):
        seen = draws.choice(PARTS, PARTS // 2, replace=False)
        alike = normal(sum((parts[part] for part in seen), np.zeros_like(votes)))
        links = nearest(alike, int(draws.integers(*NEIGHBOURS, endpoint=True)))
        finer = draws.uniform(*FINER)
        found = found_in(links, start, finer=finer, draws=draws)
        votes += found[:, None] == found[None, :]
    return votes / VIEWS


def dealt(rows: Matrix, draws: np.random.Generator) -> list[Matrix]:
    columns = draws.permutation(rows.shape[1])
    return [rows[:, part] for part in np.array_split(columns, PARTS)]


def normal(products: Matrix) -> Matrix:
    """The likeness of each two, from -1 to 1; of a question to itself none."""
    lengths = np.sqrt(np.maximum(np.diag(products), 1e-9))
    alike: Matrix = products / np.outer(lengths, lengths)
    np.fill_diagonal(alike, 0)
    return alike


def nearest(alike: Matrix, neighbours: int) -> Matrix:
    """What links each question to its nearest ones, seen from either side."""
    place = max(0, len(alike) - neighbours)
    least = np.partition(alike, place, axis=1)[:, place][:, None]
    near = alike >= np.maximum(least, LEAST)
    return np.where(near | near.T, alike, 0.0)


def found_in(links: Matrix, start: Labels, *, finer: float, draws: np.random.Generator) -> Labels:
    total = links.sum() * max(1.0, WORLD / len(links))
    if not total:
        return start
    return communities(links, start, finer=finer, total=total, draws=draws)
