"""What a Qdrant server says of itself and of the index on it."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.providers.retries import Retries
from rag_core.providers.server.collection import built_with, existing
from rag_core.providers.server.connection import connected

ONCE = Retries(attempts=1, patience=8.0)
HEALTHY = {"green", "yellow", "grey"}
"""Yellow: being optimised; grey: waiting for it. Both answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """One look at a server; nothing was changed."""

    version: str
    status: str = ""
    """Of the collection; empty: it is not there yet."""
    points: int = 0
    model: str = ""
    dimension: int = 0

    @property
    def is_healthy(self) -> bool:
        return not self.status or self.status in HEALTHY


async def examined(url: str, *, api_key: str | None, collection: str) -> ServerFacts:
    async with connected(url, api_key, ONCE) as connection:
        server = await connection.ask(lambda client: client.info())
        built = await built_with(connection, collection)
        info = await existing(connection, collection)
    if built is None or info is None:
        return ServerFacts(version=server.version)
    return ServerFacts(
        version=server.version,
        status=info.status.value,
        points=info.points_count or 0,
        model=built.model,
        dimension=built.dimension,
    )
