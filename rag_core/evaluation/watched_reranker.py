"""A rerank model whose failures are counted, so that no figure claims what it did not do."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.evaluation.run import Reranking
from rag_core.ports import Reranker


class WatchedReranker:
    """Hands everything on to the model, and counts."""

    def __init__(self, reranker: Reranker, *, model: str) -> None:
        self._reranker = reranker
        self._model = model
        self._asked = self._done = 0

    async def rerank(
        self, query: str, texts: Sequence[str], *, top: int
    ) -> Sequence[tuple[int, float]]:
        self._asked += 1
        found = await self._reranker.rerank(query, texts, top=top)
        self._done += 1
        return found

    @property
    def told(self) -> Reranking:
        return Reranking(model=self._model, searches=self._asked, failed=self._asked - self._done)
