"""OpenAI's embedding models, or any server that speaks them, behind the Embedder port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import openai
from openai import AsyncOpenAI
from openai.types import CreateEmbeddingResponse

from rag_core.errors import UpstreamUnavailable
from rag_core.ports import Vector
from rag_core.providers.attempts import attempted
from rag_core.providers.openai_chat import CONNECT_SECONDS, SERVICE, VENDOR_URL, openai_errors
from rag_core.providers.retries import Retries
from rag_core.providers.vectors import CallBudget, unit_vectors

BUDGET = CallBudget(texts=256, tokens=150_000)
"""Half of what the vendor takes in one call: tokens are estimated, and other servers take less."""
DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
CALL_SECONDS = 60.0
FOR_DOCUMENTS = Retries(attempts=6, patience=180.0, longest_seconds=30.0)
FOR_QUERIES = Retries(attempts=3, patience=20.0)


class OpenAIEmbedder:
    """Embeds at an OpenAI-compatible server."""

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        model: str,
        dimension: int | None = None,
        budget: CallBudget = BUDGET,
        documents: Retries = FOR_DOCUMENTS,
        queries: Retries = FOR_QUERIES,
    ) -> None:
        self._client = client
        self._model = model
        self._asked = dimension
        self._dimension = dimension or DIMENSIONS.get(model)
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
            vectors += await self._embed(batch, self._documents)
        return vectors

    async def embed_query(self, text: str) -> Vector:
        [batch] = self._budget.batches([text])
        return (await self._embed(batch, self._queries))[0]

    async def _embed(self, texts: list[str], retries: Retries) -> list[Vector]:
        async def call() -> list[Vector]:
            with openai_errors():
                answer = await self._client.embeddings.create(
                    model=self._model, input=texts, encoding_format="float", **self._options
                )
            found = in_order(answer)
            return unit_vectors(SERVICE, found, count=len(texts), dimension=self._dimension)

        return await attempted(SERVICE, call, retries)

    @property
    def _options(self) -> dict[str, Any]:
        """Older models refuse the field, so it is sent only where it was asked for."""
        return {} if self._asked is None else {"dimensions": self._asked}


def in_order(answer: CreateEmbeddingResponse) -> list[list[float]]:
    """The vectors as the texts were; the vendor's models take an answer of any shape."""
    try:
        items = sorted(answer.data, key=lambda item: item.index)
        return [list(map(float, item.embedding)) for item in items]
    except (TypeError, AttributeError, ValueError) as error:
        raise UpstreamUnavailable(SERVICE, "an answer that cannot be read") from error


@asynccontextmanager
async def open_openai_embedder(
    *,
    api_key: str,
    base_url: str | None,
    model: str,
    dimension: int | None = None,
    budget: CallBudget = BUDGET,
    documents: Retries = FOR_DOCUMENTS,
    queries: Retries = FOR_QUERIES,
) -> AsyncIterator[OpenAIEmbedder]:
    """An embedder whose connections are closed with it."""
    client = AsyncOpenAI(
        api_key=api_key or "none",  # servers of one's own need no key, but the client wants one
        base_url=base_url or VENDOR_URL,
        max_retries=0,
        timeout=openai.Timeout(CALL_SECONDS, connect=CONNECT_SECONDS),
    )
    async with client:
        embedder = OpenAIEmbedder(
            client,
            model=model,
            dimension=dimension,
            budget=budget,
            documents=documents,
            queries=queries,
        )
        await embedder.find_dimension()
        yield embedder
