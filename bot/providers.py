"""Chooses models and index by the settings; what is not chosen is not even imported."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from bot.settings import Settings
from rag_core.ports import ChatModel, Embedder, VectorStore


@contextlib.asynccontextmanager
async def open_embedder(settings: Settings) -> AsyncIterator[Embedder]:
    from rag_core.providers.local_embedder import open_local_embedder

    async with open_local_embedder() as embedder:
        yield embedder


@contextlib.asynccontextmanager
async def open_vectors(
    settings: Settings, folder: Path, *, embedder: Embedder
) -> AsyncIterator[VectorStore]:
    from rag_core.providers.qdrant_edge import open_edge_store

    async with open_edge_store(
        folder / "index", dimension=embedder.dimension, model=embedder.model
    ) as store:
        yield store


@contextlib.asynccontextmanager
async def open_chat_model(settings: Settings) -> AsyncIterator[ChatModel]:
    if settings.chat_model == "quoting":
        from rag_core.providers.quoting_model import QuotingModel

        yield QuotingModel()
        return
    from rag_core.providers.openai_chat import open_openai_chat

    key = settings.openai_api_key
    async with open_openai_chat(
        api_key=key.get_secret_value() if key else "",
        base_url=settings.openai_base_url,
        model=settings.openai_model,
    ) as model:
        yield model
