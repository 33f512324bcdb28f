"""What was read of an index and holds until readers see something else."""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Known(Generic[K, V]):
    """What was read of the index lately, in one state of it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._generation = -1
        self._values: dict[K, V] = {}

    def of(self, generation: int) -> dict[K, V]:
        """What is known, to be added to; a search of an older state keeps its own."""
        if generation > self._generation or len(self._values) > self._most:
            self._values, self._generation = {}, max(generation, self._generation)
        return self._values if generation == self._generation else {}
