"""Groups of what is often seen together, without those that only stray in."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from rag_core.insight.communities import Matrix

TOGETHER = 0.3
"""Groups are one as long as so many views, on the mean, see their questions together."""
AT_HOME = 0.62
"""A question that fewer views see with the others of its group stays alone."""
APART = -math.inf
"""Stands where two groups can never be put together; it outlasts every mean."""

Group = tuple[int, ...]


def joined(agreed: Matrix, blocks: Sequence[Group], *, apart: int) -> list[Group]:
    """The blocks, put together while views agree; the first `apart` never with each other."""
    members = list(blocks)
    belongs = np.zeros((len(blocks), len(agreed)))
    for row, block in enumerate(blocks):
        belongs[row, list(block)] = 1
    sizes = belongs.sum(axis=1)
    alike = belongs @ agreed @ belongs.T / np.outer(sizes, sizes)
    np.fill_diagonal(alike, APART)
    alike[:apart, :apart] = APART
    while True:
        one, other = divmod(int(alike.argmax()), len(members))
        if alike[one, other] < TOGETHER:
            return [tuple(sorted(group)) for group in members if group]
        row = (alike[one] * sizes[one] + alike[other] * sizes[other]) / (sizes[one] + sizes[other])
        row[[one, other]] = APART
        alike[one], alike[:, one] = row, row
        alike[other], alike[:, other] = APART, APART
        sizes[one] += sizes[other]
        members[one] += members[other]
        members[other] = ()


def cores(agreed: Matrix, groups: Sequence[Group], *, fixed: Collection[int]) -> list[Group]:
    """Each group with those that are at home in it; who is not stays alone."""
    kept: list[Group] = []
    alone: list[Group] = []
    for group in groups:
        inside = agreed[np.ix_(group, group)]
        others = (inside.sum(axis=1) - np.diag(inside)) / max(1, len(group) - 1)
        home = [
            place in fixed or near >= AT_HOME for place, near in zip(group, others, strict=True)
        ]
        kept.append(tuple(place for place, stays in zip(group, home, strict=True) if stays))
        alone += [(place,) for place, stays in zip(group, home, strict=True) if not stays]
    return [group for group in kept if group] + alone
