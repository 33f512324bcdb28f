"""A yard whose processes share one real PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.faults.row import Scale
from tests.faults.yard import Yard, yard
from tests.peers.postgres import postgres_server

BESIDE = "data-2"
"""The folder of the process that works beside the one that is tried."""


@asynccontextmanager
async def shared_yard(scale: Scale, *, model_seconds: float = 0.0) -> AsyncIterator[Yard]:
    """The database is made anew, and gone with the yard."""
    with postgres_server() as server:
        url = server.url(await server.create())
        async with yard(
            scale.folder, seed=scale.seed, model_seconds=model_seconds, database=url
        ) as place:
            yield place


@asynccontextmanager
async def two_processes(scale: Scale, *, model_seconds: float = 0.0) -> AsyncIterator[Yard]:
    """The same, where one process works already and stays until the end."""
    async with shared_yard(scale, model_seconds=model_seconds) as place:
        house = await place.start(data=BESIDE)
        await house.ready()
        yield place
