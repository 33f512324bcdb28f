"""Serves a web application on a socket that somebody else opened."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from adapters.web.connections import (
    Connection,
    ConnectionLimits,
    ConnectionPool,
    most_connections,
)

log = logging.getLogger(__name__)

GRACE_SECONDS = 2
"""How long requests may still take at the end; a stream that is cut goes on after a restart."""
TCP = frozenset({socket.AF_INET, socket.AF_INET6})
SOCKET_BUFFER = 128 * 1024
"""What the system holds of a connection in either direction, beside our own buffers."""
BACKLOG = 2_048
ACCEPTED_A_TURN = 64
"""After so many new connections those that are there have their turn."""
ACCEPT_PAUSE_SECONDS = 0.1
CLOSED_FOR_FILES = 32
"""Idle connections that are closed when the process can open no more files."""


class Acceptor:
    """Takes connections from a socket; where the system gives none, it pauses and makes room.

    asyncio's own tries and logs again up to the backlog's number for each such moment."""

    def __init__(self, listener: socket.socket, server: OwnedServer) -> None:
        self._listener = listener
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._opening: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        self._listener.setblocking(False)
        self._listener.listen(BACKLOG)
        self._loop.add_reader(self._listener, self._accept)

    def close(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._listener)

    async def wait_closed(self) -> None:
        await asyncio.gather(*self._opening, return_exceptions=True)

    def _accept(self) -> None:
        for _ in range(ACCEPTED_A_TURN):
            try:
                accepted, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                self._make_room(error)
                return
            task = self._loop.create_task(self._open(accepted))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def _open(self, accepted: socket.socket) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(accepted.close)
            await self._loop.connect_accepted_socket(self._server.connection, accepted)
            stack.pop_all()

    def _make_room(self, error: OSError) -> None:
        log.warning("a connection could not be accepted", extra={"cause": error.strerror})
        self._server.pool.close_idle(CLOSED_FOR_FILES)
        self._loop.remove_reader(self._listener)
        self._pause = self._loop.call_later(ACCEPT_PAUSE_SECONDS, self.start)


class OwnedServer(uvicorn.Server):
    """A server that leaves the signals of the process to its owner, and bounds its connections."""

    def __init__(self, config: uvicorn.Config, limits: ConnectionLimits) -> None:
        super().__init__(config)
        self.pool = ConnectionPool(limits)

    def connection(self) -> Connection:
        return Connection(self.config, self.server_state, self.pool)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        acceptors = [Acceptor(listener, self) for listener in sockets or []]
        for acceptor in acceptors:
            acceptor.start()
        self.servers = acceptors  # type: ignore[assignment]  # closed as uvicorn closes its own
        self.started = True

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:  # ten ticks a second
            self.pool.sweep()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        for acceptor in self.servers:
            await acceptor.wait_closed()
        self.pool.abort()


async def serve(
    app: ASGIApp, listener: socket.socket, limits: ConnectionLimits | None = None
) -> None:
    """Answer on this socket until cancelled, then let what is in work end."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        ws="none",
        lifespan="off",
        # Who asks is who is connected: what a request says of its way here is not believed.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    if listener.family in TCP:
        # Each accepted connection inherits it: a body must not wait until its head is confirmed.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
    server = OwnedServer(config, limits or ConnectionLimits(connections=most_connections()))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise
