"""Cohere's embedding models, versions 3 and 4, behind the Embedder port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from cohere import AsyncClientV2

from rag_core.ports import Vector
from rag_core.providers.attempts import attempted
from rag_core.providers.cohere_client import SERVICE, cohere_errors, open_cohere
from rag_core.providers.retries import Retries
from rag_core.providers.vectors import CallBudget, unit_vectors

BUDGET = CallBudget(texts=96)
"""What the vendor takes in one call."""
DIMENSIONS = {
    "embed-english-v3.0": 1024,
    "embed-multilingual-v3.0": 1024,
    "embed-english-light-v3.0": 384,
    "embed-multilingual-light-v3.0": 384,
    "embed-v4.0": 1536,
}
CALL_SECONDS = 60.0
FOR_DOCUMENTS = Retries(attempts=6, patience=180.0, longest_seconds=30.0)
"""A trial key embeds a few times a minute: a big book waits rather than fails."""
FOR_QUERIES = Retries(attempts=3, patience=20.0)
"""Somebody waits for the answer."""

InputType = Literal["search_document", "search_query"]


class CohereEmbedder:
    """Embeds at Cohere; documents and queries are told apart, as its models expect."""

    def __init__(
        self,
        client: AsyncClientV2,
        *,
        model: str,
        dimension: int | None = None,
        documents: Retries = FOR_DOCUMENTS,
        queries: Retries = FOR_QUERIES,
    ) -> None:
        self._client = client
        self._model = model
        self._asked = dimension
        self._dimension = dimension or DIMENSIONS.get(model)
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
        for batch in BUDGET.batches(texts):
            vectors += await self._embed(batch, "search_document", self._documents)
        return vectors

    async def embed_query(self, text: str) -> Vector:
        [batch] = BUDGET.batches([text])
        return (await self._embed(batch, "search_query", self._queries))[0]

    async def _embed(self, texts: list[str], kind: InputType, retries: Retries) -> list[Vector]:
        async def call() -> list[Vector]:
            with cohere_errors():
                answer = await self._client.embed(
                    model=self._model,
                    texts=texts,
                    input_type=kind,
                    embedding_types=["float"],
                    **self._options,
                )
                return unit_vectors(
                    SERVICE,
                    answer.embeddings.float_ or [],
                    count=len(texts),
                    dimension=self._dimension,
                )

        return await attempted(SERVICE, call, retries)

    @property
    def _options(self) -> dict[str, Any]:
        """Only models from version 4 on can be asked for shorter vectors."""
        return {} if self._asked is None else {"output_dimension": self._asked}


@asynccontextmanager
async def open_cohere_embedder(
    *,
    api_key: str,
    base_url: str | None,
    model: str,
    dimension: int | None = None,
    documents: Retries = FOR_DOCUMENTS,
    queries: Retries = FOR_QUERIES,
) -> AsyncIterator[CohereEmbedder]:
    """An embedder whose connections are closed with it."""
    async with open_cohere(api_key, base_url, seconds=CALL_SECONDS) as client:
        embedder = CohereEmbedder(
            client, model=model, dimension=dimension, documents=documents, queries=queries
        )
        await embedder.find_dimension()
        yield embedder
