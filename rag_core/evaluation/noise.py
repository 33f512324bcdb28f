"""Whether two runs differ by more than the choice of questions makes figures differ anyway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
AT_ONCE = 500
AUC_RESAMPLES = 1_000
SEED = 20_001
"""Two looks at the same runs tell the same."""
SURE = 0.05
"""Where chance alone would make so large a difference more often than this, it is noise."""

Pairs = NDArray[np.float64]
"""One row a question: gained and of how much before, gained and of how much after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far a figure moved, and how sure that is."""

    before: float
    after: float
    low: float
    high: float
    """95 of 100 draws of as many questions from these gave a difference between low and high."""
    chance: float
    """How often a difference of this size comes about when both runs are equally good."""

    @property
    def size(self) -> float:
        return self.after - self.before

    @property
    def is_noise(self) -> bool:
        return self.chance >= SURE


def difference(pairs: Sequence[tuple[float, float, float, float]]) -> Difference | None:
    """Of one figure over the questions that both runs have; None: there is nothing to divide by."""
    table = np.array(pairs, dtype=np.float64).reshape(-1, 4)
    sums = table.sum(axis=0)
    if not sums[1] or not sums[3]:
        return None
    drawn = draws(table)
    low, high = np.quantile(drawn, [0.025, 0.975]) if len(drawn) else (0.0, 0.0)
    return Difference(
        before=float(sums[0] / sums[1]),
        after=float(sums[2] / sums[3]),
        low=float(low),
        high=float(high),
        chance=chance_of(table),
    )


def spread(gains: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Between which values one figure would lie for 95 of 100 draws of as many questions."""
    table = np.array([(0.0, 1.0, *gain) for gain in gains], dtype=np.float64).reshape(-1, 4)
    drawn = draws(table) if len(table) else np.array([])
    if not len(drawn):
        return None
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def auc_spread(positive: Sequence[float], negative: Sequence[float]) -> tuple[float, float] | None:
    """The same for the area under the curve: values of both kinds are drawn anew."""
    if not positive or not negative:
        return None
    above, below = np.array(positive)[:, None], np.array(negative)[None]
    wins = (above > below) + 0.5 * (above == below)
    random = np.random.default_rng(SEED)
    drawn = [
        wins[random.integers(0, len(positive), len(positive))][
            :, random.integers(0, len(negative), len(negative))
        ].mean()
        for _ in range(AUC_RESAMPLES)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def draws(table: Pairs) -> NDArray[np.float64]:
    """Paired bootstrap: the difference over questions that are drawn anew, with putting back."""
    random = np.random.default_rng(SEED)
    found = []
    for _ in range(RESAMPLES // AT_ONCE):
        places = random.integers(0, len(table), size=(AT_ONCE, len(table)))
        found.append(moved(table[places].sum(axis=1)))
    drawn = np.concatenate(found)
    return drawn[np.isfinite(drawn)]


def chance_of(table: Pairs) -> float:
    """Paired randomisation: if the runs were equally good, each question's two outcomes might as
    well have come the other way round. For outcomes of yes and no this is the sign test."""
    changed = (table[:, :2] != table[:, 2:]).any(axis=1)
    still, turned = table[~changed].sum(axis=0), table[changed]
    if not len(turned):
        return 1.0
    size = abs(moved(table.sum(axis=0)[None]))[0] - 1e-12
    random = np.random.default_rng(SEED)
    reached = 0
    for _ in range(RESAMPLES // AT_ONCE):
        swapped = random.integers(0, 2, size=(AT_ONCE, len(turned)), dtype=np.int8)[..., None]
        mixed = np.where(swapped, turned[:, [2, 3, 0, 1]], turned)
        reached += int((abs(moved(still + mixed.sum(axis=1))) >= size).sum())
    return (reached + 1) / (RESAMPLES + 1)


def moved(sums: Pairs) -> NDArray[np.float64]:
    """The difference of two figures, each a quotient of sums."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: NDArray[np.float64] = sums[:, 2] / sums[:, 3] - sums[:, 0] / sums[:, 1]
    return found
