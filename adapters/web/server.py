"""Serves a web application on a socket that somebody else opened."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

GRACE_SECONDS = 2
"""How long requests may still take at the end; a stream that is cut goes on after a restart."""
MAX_CONNECTIONS = 1_000
MAX_HEADERS = 32 * 1024
TCP = frozenset({socket.AF_INET, socket.AF_INET6})


class OwnedServer(uvicorn.Server):
    """A server that leaves the signals of the process to its owner."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Answer on this socket until cancelled, then let what is in work end."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        http="h11",
        ws="none",
        lifespan="off",
        # Who asks is who is connected: what a request says of its way here is not believed.
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=MAX_HEADERS,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    if listener.family in TCP:
        # Each accepted connection inherits it: a body must not wait until its head is confirmed.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = OwnedServer(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise
