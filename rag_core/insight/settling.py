"""Second thoughts on groups: each question moves to where it is at home, and twins become one."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

FEW = 3
"""Smaller groups draw nobody to them."""
NEAR = 0.14
"""A question that is less alike to every group stays alone."""
SAME = 0.4
"""Two groups are one topic when they are this alike, as a share of the likeness inside them."""
ROUNDS, LAST_ROUNDS = 4, 2
TWICE = 2
"""How often twins are looked for: who moved may make two groups one."""

Group = tuple[int, ...]


def settled(
    rows: Matrix, groups: Sequence[Group], *, judged: int, fixed: Collection[int]
) -> list[Group]:
    """The groups after a few rounds; the first `judged` stay apart, and what is fixed stays put."""
    now = list(groups)
    for _ in range(ROUNDS):
        now = moved(rows, now, judged=judged, fixed=fixed)
    for _ in range(TWICE):
        now = merged(rows, now, judged=judged)
        for _ in range(LAST_ROUNDS):
            now = moved(rows, now, judged=judged, fixed=fixed)
    return [group for group in now if group]


def moved(
    rows: Matrix, groups: Sequence[Group], *, judged: int, fixed: Collection[int]
) -> list[Group]:
    """Every question in the group that it is most like; its own counts without itself."""
    likeness = likeness_to(rows, groups, judged=judged)
    best = likeness.argmax(axis=1)
    made: list[list[int]] = [[] for _ in groups]
    alone: list[Group] = []
    home = {place: number for number, group in enumerate(groups) for place in group}
    for place in range(len(rows)):
        if place in fixed:
            made[home[place]].append(place)
        elif likeness[place, best[place]] >= NEAR:
            made[int(best[place])].append(place)
        else:
            alone.append((place,))
    kept = [tuple(group) for number, group in enumerate(made) if group or number < judged]
    return kept + alone


def likeness_to(rows: Matrix, groups: Sequence[Group], *, judged: int) -> Matrix:
    """How alike each question is to each group, on the mean of its questions."""
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    sums = np.array([rows[list(group)].sum(axis=0) for group in groups])
    likeness: Matrix = rows @ sums.T / np.maximum(sizes, 1)
    draws = (sizes >= FEW) | (np.arange(len(groups)) < judged)
    likeness[:, ~draws] = -math.inf
    for number, group in enumerate(groups):
        own = rows[list(group)]
        others = own @ sums[number] - (own * own).sum(axis=1)
        # A pair holds together only where nobody else is near.
        likeness[list(group), number] = (
            others / (len(group) - 1) if draws[number] and len(group) > 1 else pair(group)
        )
    return likeness


def pair(group: Group) -> float:
    return NEAR if len(group) > 1 else -math.inf


def merged(rows: Matrix, groups: Sequence[Group], *, judged: int) -> list[Group]:
    """Groups that tell the same topic in two halves become one."""
    now = [list(group) for group in groups]
    while True:
        big = [number for number, group in enumerate(now) if len(group) >= FEW]
        if len(big) < 2:
            return [tuple(group) for group in now]
        shares = likeness_between(rows, [now[number] for number in big])
        apart = np.array(big) < judged
        shares[np.outer(apart, apart)] = -math.inf
        one, other = divmod(int(shares.argmax()), len(big))
        if shares[one, other] < SAME:
            return [tuple(group) for group in now]
        # The first of the two may be a judged one, which goes on under its name.
        one, other = min(one, other), max(one, other)
        now[big[one]] += now[big[other]]
        now[big[other]] = []


def likeness_between(rows: Matrix, groups: Sequence[Sequence[int]]) -> Matrix:
    """How alike each two groups are, as a share of the likeness inside the looser one."""
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    sums = np.array([rows[list(group)].sum(axis=0) for group in groups])
    own = np.array([(rows[list(group)] ** 2).sum() for group in groups])
    between = sums @ sums.T
    within = np.maximum((np.diag(between) - own) / (sizes * (sizes - 1)), 1e-9)
    shares: Matrix = between / np.outer(sizes, sizes) / np.minimum.outer(within, within)
    np.fill_diagonal(shares, -math.inf)
    return shares
