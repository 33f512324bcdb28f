"""OpenAI's embedding models, or any server that speaks them, behind the Embedder port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import openai
from openai import AsyncOpenAI
from openai.types import CreateEmbeddingResponse

from rag_core.errors import UpstreamUnavailable
from rag_core.providers.chat.endpoint import VENDOR_URL
from rag_core.providers.chat.openai_chat import CONNECT_SECONDS, SERVICE, openai_errors
from rag_core.providers.embedders.remote import (
    CALL_SECONDS,
    FOR_DOCUMENTS,
    FOR_QUERIES,
    RemoteEmbedder,
)
from rag_core.providers.embedders.vectors import CallBudget
from rag_core.providers.retries import Retries

BUDGET = CallBudget(texts=256, tokens=150_000)
"""Half of what the vendor takes in one call: tokens are estimated, and other servers take less."""
DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


def vectors_in(read: Callable[[], CreateEmbeddingResponse]) -> list[list[float]]:
    """The vectors as the texts were; the vendor's models take an answer of any shape.

    What is done here is reading an answer, so whatever fails here is the answer's fault."""
    try:
        items = sorted(read().data, key=lambda item: item.index)
        return [list(map(float, item.embedding)) for item in items]
    except (TypeError, AttributeError, ValueError, RecursionError, openai.OpenAIError) as error:
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
) -> AsyncIterator[RemoteEmbedder]:
    """An embedder whose connections are closed with it.

    Older models refuse the field `dimensions`, so it is sent only where it was asked for."""
    options: dict[str, Any] = {} if dimension is None else {"dimensions": dimension}
    client = AsyncOpenAI(
        api_key=api_key or "none",  # servers of one's own need no key, but the client wants one
        base_url=base_url or VENDOR_URL,
        max_retries=0,
        timeout=openai.Timeout(CALL_SECONDS, connect=CONNECT_SECONDS),
    )

    async def call(texts: list[str], *, is_query: bool) -> Sequence[Sequence[float]]:
        with openai_errors():
            answer = await client.embeddings.with_raw_response.create(
                model=model, input=texts, encoding_format="float", **options
            )
        return vectors_in(answer.parse)

    async with client:
        embedder = RemoteEmbedder(
            SERVICE,
            call,
            model=model,
            dimension=dimension or DIMENSIONS.get(model),
            budget=budget,
            documents=documents,
            queries=queries,
        )
        await embedder.find_dimension()
        yield embedder
