"""An embedding service behind the Embedder port: batches, retries, and the vectors checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rag_core.ports import Vector
from rag_core.providers.attempts import attempted
from rag_core.providers.embedders.vectors import CallBudget, unit_vectors
from rag_core.providers.retries import Retries

CALL_SECONDS = 60.0
FOR_DOCUMENTS = Retries(attempts=6, patience=180.0, longest_seconds=30.0)
"""A trial key embeds a few times a minute: a big book waits rather than fails."""
FOR_QUERIES = Retries(attempts=3, patience=20.0)
"""Somebody waits for the answer."""


class EmbeddingCall(Protocol):
    """One request to the service, in its own words; raises our errors only."""

    async def __call__(self, texts: list[str], *, is_query: bool) -> Sequence[Sequence[float]]: ...


class RemoteEmbedder:
    """Embeds where a service does it."""

    def __init__(
        self,
        service: str,
        call: EmbeddingCall,
        *,
        model: str,
        dimension: int | None,
        budget: CallBudget,
        documents: Retries = FOR_DOCUMENTS,
        queries: Retries = FOR_QUERIES,
    ) -> None:
        self._service = service
        self._call = call
        self._model = model
        self._dimension = dimension
        self._budget = budget
        self._documents = documents
        self._queries = queries

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            raise RuntimeError("an unknown model's dimension is found when it is opened")
        return self._dimension

    async def find_dimension(self) -> None:
        """For a model that is not known here: what its first vector says."""
        if self._dimension is None:
            self._dimension = len(await self.embed_query("dimension"))

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        vectors: list[Vector] = []
        for batch in self._budget.batches(texts):
            vectors += await self._embed(batch, self._documents, is_query=False)
        return vectors

    async def embed_query(self, text: str) -> Vector:
        [batch] = self._budget.batches([text])
        return (await self._embed(batch, self._queries, is_query=True))[0]

    async def _embed(self, texts: list[str], retries: Retries, *, is_query: bool) -> list[Vector]:
        async def call() -> list[Vector]:
            found = await self._call(texts, is_query=is_query)
            return unit_vectors(self._service, found, count=len(texts), dimension=self._dimension)

        return await attempted(self._service, call, retries)
