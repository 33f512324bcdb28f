"""Remembers the vectors of the last queries, in front of any embedder."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.ports import Embedder, Vector

REMEMBERED = 1_024


class QueryCache:
    """An Embedder that does not embed the same question twice; documents pass through."""

    def __init__(self, embedder: Embedder, *, size: int = REMEMBERED) -> None:
        self._embedder = embedder
        self._size = size
        self._rows: OrderedDict[str, int] = OrderedDict()
        self._vectors: NDArray[np.float64] | None = None
        """One piece of memory for as long as there are questions: a thousand small ones that come
        and go leave holes everywhere."""

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        return await self._embedder.embed_documents(texts)

    async def embed_query(self, text: str) -> Vector:
        row = self._rows.get(text)
        if row is not None and self._vectors is not None:
            self._rows.move_to_end(text)
            known: Vector = self._vectors[row].tolist()
            return known
        vector = await self._embedder.embed_query(text)
        self._remember(text, vector)
        return vector

    def clear(self) -> None:
        self._rows.clear()
        self._vectors = None

    def _remember(self, text: str, vector: Vector) -> None:
        if self._vectors is None:
            self._vectors = np.empty((self._size, len(vector)))
        row = self._rows.pop(text, None)  # somebody else may have asked the same meanwhile
        if row is None:
            full = len(self._rows) == self._size
            row = self._rows.popitem(last=False)[1] if full else len(self._rows)
        self._rows[text] = row
        self._vectors[row] = vector
