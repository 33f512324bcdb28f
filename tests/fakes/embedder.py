"""An embedder without a model: texts that share words have near vectors."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence

from rag_core.ports import Vector

WORD = re.compile(r"\w+")


class WordEmbedder:
    """Each word has a direction of its own; a text is the sum of its words, of length one."""

    def __init__(self, *, dimension: int = 64, model: str = "words-64") -> None:
        self._dimension = dimension
        self._model = model
        self.embedded: list[str] = []
        self.queries: list[str] = []

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimension(self) -> int:
        return self._dimension

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.embedded.extend(texts)
        return [self.vector(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        self.queries.append(text)
        return self.vector(text)

    def vector(self, text: str) -> list[float]:
        sums = [0.0] * self._dimension
        for word in WORD.findall(text.lower()) or [""]:
            digest = hashlib.sha256(word.encode()).digest()
            sums[digest[0] % self._dimension] += 1.0
            sums[digest[1] % self._dimension] += 0.5
        length = math.sqrt(sum(value * value for value in sums))
        return [value / length for value in sums]
