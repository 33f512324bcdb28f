"""Cohere's embedding models, versions 3 and 4, behind the Embedder port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from rag_core.providers.cohere_client import SERVICE, cohere_errors, open_cohere
from rag_core.providers.embedders.remote import (
    CALL_SECONDS,
    FOR_DOCUMENTS,
    FOR_QUERIES,
    RemoteEmbedder,
)
from rag_core.providers.embedders.vectors import CallBudget
from rag_core.providers.retries import Retries

BUDGET = CallBudget(texts=96)
"""What the vendor takes in one call."""
DIMENSIONS = {
    "embed-english-v3.0": 1024,
    "embed-multilingual-v3.0": 1024,
    "embed-english-light-v3.0": 384,
    "embed-multilingual-light-v3.0": 384,
    "embed-v4.0": 1536,
}


@asynccontextmanager
async def open_cohere_embedder(
    *,
    api_key: str,
    base_url: str | None,
    model: str,
    dimension: int | None = None,
    documents: Retries = FOR_DOCUMENTS,
    queries: Retries = FOR_QUERIES,
) -> AsyncIterator[RemoteEmbedder]:
    """An embedder whose connections are closed with it.

    Only models from version 4 on can be asked for shorter vectors: without a `dimension` nothing
    is asked."""
    options: dict[str, Any] = {} if dimension is None else {"output_dimension": dimension}
    async with open_cohere(api_key, base_url, seconds=CALL_SECONDS) as client:

        async def call(texts: list[str], *, is_query: bool) -> Sequence[Sequence[float]]:
            """Documents and queries are told apart, as these models expect."""
            with cohere_errors():
                answer = await client.embed(
                    model=model,
                    texts=texts,
                    input_type="search_query" if is_query else "search_document",
                    embedding_types=["float"],
                    **options,
                )
                return [list(map(float, vector)) for vector in answer.embeddings.float_ or []]

        embedder = RemoteEmbedder(
            SERVICE,
            call,
            model=model,
            dimension=dimension or DIMENSIONS.get(model),
            budget=BUDGET,
            documents=documents,
            queries=queries,
        )
        await embedder.find_dimension()
        yield embedder
