"""Ways of doing the same thing, measured in turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from statistics import quantiles
from time import perf_counter
from typing import Any

ROUNDS = 400
CALLS = 10

Call = Callable[[], Awaitable[Any]]


async def in_turns(ways: Mapping[str, Call]) -> dict[str, float]:
    """Seconds that a call takes each way. They take turns in short rounds, so that what else the
    machine does hits all alike, and a tenth of the rounds was faster than the one that counts."""
    rounds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, call in ways.items():
            began = perf_counter()
            for _ in range(CALLS):
                await call()
            rounds[name].append((perf_counter() - began) / CALLS)
    return {name: quantiles(times, n=10)[0] for name, times in rounds.items()}


def show(what: str, *, plain: float, ours: float, wanted: float) -> None:
    """One line: both times, and our speed as a share of plain's."""
    share = f"{plain / ours:.2f} of its speed (wanted: {wanted})"
    print(f"{what:<62} plain {plain * 1e6:6.0f} µs, ours {ours * 1e6:6.0f} µs: {share}")
