"""Chooses models and index by the settings; what is not chosen is not even imported."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from pydantic import SecretStr

from bot.chat_endpoint import endpoint_of
from bot.embedding import EmbeddingChoice, chosen
from bot.settings import Settings
from rag_core.ports import ChatModel, Embedder, Reader, Reranker, VectorStore

INDEX_FOLDER = "index"


def open_embedder(
    settings: Settings, choice: EmbeddingChoice
) -> contextlib.AbstractAsyncContextManager[Embedder]:
    match choice.runner:
        case "cohere":
            from rag_core.providers.embedders.cohere import open_cohere_embedder

            return open_cohere_embedder(
                api_key=secret(settings.cohere_api_key) or "",
                base_url=settings.cohere_api_url,
                model=choice.model,
            )
        case "openai":
            from rag_core.providers.embedders.openai import open_openai_embedder

            return open_openai_embedder(
                api_key=secret(settings.openai_api_key) or "",
                base_url=settings.openai_base_url,
                model=choice.model,
            )
        case "local":
            from rag_core.providers.embedders.local import open_local_embedder

            return open_local_embedder(choice.model)


@contextlib.asynccontextmanager
async def open_own_embedder(choice: EmbeddingChoice, embedder: Embedder) -> AsyncIterator[Embedder]:
    """The local model, for what must cost nothing and need nobody; loaded when it is needed."""
    if choice.runner == "local":
        yield embedder
        return
    from rag_core.providers.embedders.local import open_local_embedder

    async with open_local_embedder() as own:
        yield own


def open_reader() -> contextlib.AbstractAsyncContextManager[Reader]:
    """What reads the sections that were found; loaded when it is first needed."""
    from rag_core.providers.local.joint_reader import open_joint_reader

    return open_joint_reader()


def open_reranker(
    settings: Settings,
) -> contextlib.AbstractAsyncContextManager[Reranker | None]:
    """The rerank model that is named, if any."""
    if settings.cohere_rerank_model is None:
        return contextlib.nullcontext()
    from rag_core.providers.cohere_reranker import open_cohere_reranker

    return open_cohere_reranker(
        api_key=secret(settings.cohere_api_key) or "",
        base_url=settings.cohere_api_url,
        model=settings.cohere_rerank_model,
    )


def open_vectors(
    settings: Settings, folder: Path, *, embedder: Embedder
) -> contextlib.AbstractAsyncContextManager[VectorStore]:
    if settings.qdrant_url is None:
        from rag_core.providers.edge.store import open_edge_store

        return open_edge_store(
            folder / INDEX_FOLDER, dimension=embedder.dimension, model=embedder.model
        )
    from rag_core.providers.server.store import open_server_store

    return open_server_store(
        settings.qdrant_url,
        api_key=secret(settings.qdrant_api_key),
        collection=settings.qdrant_collection_name,
        dimension=embedder.dimension,
        model=embedder.model,
    )


async def embedding_choice(settings: Settings, folder: Path) -> EmbeddingChoice:
    """The model for this index, which may be new."""
    return chosen(settings, await built_with(settings, folder))


async def built_with(settings: Settings, folder: Path) -> str | None:
    """Which embedding model the index remembers; none without an index."""
    if settings.qdrant_url is None:
        from rag_core.providers.edge.index_state import indexed_model

        return indexed_model(folder / INDEX_FOLDER)
    from rag_core.providers.server.store import server_model

    return await server_model(
        settings.qdrant_url,
        api_key=secret(settings.qdrant_api_key),
        collection=settings.qdrant_collection_name,
    )


def secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value else None


@contextlib.asynccontextmanager
async def open_chat_model(
    settings: Settings, *, patience: float | None = None
) -> AsyncIterator[ChatModel | None]:
    """Who writes the answers, None where the documents are quoted; it is tried again as long as an
    answer may take, or `patience`."""
    if settings.chat_model == "quoting":
        yield None
        return
    from rag_core.providers.chat.openai_chat import open_openai_chat
    from rag_core.providers.retries import Retries

    async with open_openai_chat(
        endpoint_of(settings), retries=Retries(patience=patience or settings.answer_seconds)
    ) as model:
        yield model
