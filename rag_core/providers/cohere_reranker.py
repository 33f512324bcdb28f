"""Cohere's rerank models behind the Reranker port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from cohere import AsyncClientV2

from rag_core.errors import UpstreamUnavailable
from rag_core.providers.attempts import attempted
from rag_core.providers.cohere_client import SERVICE, cohere_errors, open_cohere
from rag_core.providers.embedders.vectors import clipped
from rag_core.providers.retries import Breaker, Retries

PATIENCE = Retries(attempts=2, patience=5.0, first_seconds=0.2)
"""Results are in a usable order without it: nobody waits long for a better one."""
MOST_TEXTS = 1_000


class CohereReranker:
    """Orders passages by a model that reads query and passage together."""

    def __init__(
        self, client: AsyncClientV2, *, model: str, retries: Retries, breaker: Breaker | None = None
    ) -> None:
        self._client = client
        self._model = model
        self._retries = retries
        self._breaker = breaker or Breaker(SERVICE)

    async def rerank(
        self, query: str, texts: Sequence[str], *, top: int
    ) -> Sequence[tuple[int, float]]:
        """The positions of the best texts, best first, each with its relevance."""
        if not texts or top < 1:
            return []
        documents = [clipped(text) for text in texts[:MOST_TEXTS]]
        wanted = min(top, len(documents))

        async def call() -> list[tuple[int, float]]:
            with cohere_errors():
                answer = await self._client.rerank(
                    model=self._model, query=query, documents=documents, top_n=wanted
                )
                found = [(item.index, item.relevance_score) for item in answer.results]
                return checked(found, len(documents), wanted)

        return await attempted(SERVICE, call, self._retries, self._breaker)


def checked(found: list[tuple[int, float]], texts: int, wanted: int) -> list[tuple[int, float]]:
    """Each position stands for one of the texts, and none comes twice."""
    usable = {place for place, _ in found if isinstance(place, int) and 0 <= place < texts}
    scored = all(isinstance(score, int | float) for _, score in found)
    if not scored or len(usable) != len(found) or len(found) != wanted:
        raise UpstreamUnavailable(SERVICE, "an order that does not fit the texts")
    return found


@asynccontextmanager
async def open_cohere_reranker(
    *,
    api_key: str,
    base_url: str | None,
    model: str,
    retries: Retries = PATIENCE,
    breaker: Breaker | None = None,
) -> AsyncIterator[CohereReranker]:
    """A reranker whose connections are closed with it."""
    async with open_cohere(api_key, base_url, seconds=retries.patience) as client:
        yield CohereReranker(client, model=model, retries=retries, breaker=breaker)
