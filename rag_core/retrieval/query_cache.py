"""Remembers the vectors of the last queries, in front of any embedder."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence

from rag_core.ports import Embedder, Vector

REMEMBERED = 1_024


class QueryCache:
    """An Embedder that does not embed the same question twice; documents pass through."""

    def __init__(self, embedder: Embedder, *, size: int = REMEMBERED) -> None:
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[str, array[float]] = OrderedDict()
        """Numbers as they are kept in an array take a quarter of what they take in a list."""

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        return await self._embedder.embed_documents(texts)

    async def embed_query(self, text: str) -> Vector:
        known = self._vectors.get(text)
        if known is not None:
            self._vectors.move_to_end(text)
            return known.tolist()
        vector = await self._embedder.embed_query(text)
        self._vectors[text] = array("d", vector)
        if len(self._vectors) > self._size:
            self._vectors.popitem(last=False)
        return vector
