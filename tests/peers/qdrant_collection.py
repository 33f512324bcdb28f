"""A collection of a test's own on the real Qdrant server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from qdrant_client import AsyncQdrantClient

from rag_core.providers.server.collection import state_collection
from rag_core.providers.server.store import ServerStore, open_server_store
from tests.fakes.embedder import WordEmbedder

EMBEDDER = WordEmbedder()


@asynccontextmanager
async def fresh_collection(url: str) -> AsyncIterator[str]:
    """The name of a collection that is removed afterwards."""
    name = f"test-{uuid4().hex}"
    try:
        yield name
    finally:
        async with plain_client(url) as client:
            await client.delete_collection(name)
            await client.delete_collection(state_collection(name))


@asynccontextmanager
async def plain_client(url: str) -> AsyncIterator[AsyncQdrantClient]:
    client = AsyncQdrantClient(url=url, check_compatibility=False)
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def server_store(
    url: str, collection: str | None = None, **changes: Any
) -> AsyncIterator[ServerStore]:
    """A store in this collection, or in a fresh one."""
    if collection is None:
        async with fresh_collection(url) as name, server_store(url, name, **changes) as store:
            yield store
        return
    wanted = {"model": EMBEDDER.model, "dimension": EMBEDDER.dimension, "quiet_seconds": 0.0}
    async with open_server_store(
        url, **{"api_key": None, "collection": collection} | wanted | changes
    ) as store:
        yield store
