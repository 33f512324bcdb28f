"""Serves a web application on a socket that somebody else opened."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections import OrderedDict
from collections.abc import Iterator
from functools import partial
from time import monotonic

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
BACKLOG = 4_096
ACCEPTED_A_TURN = 256
"""After so many new connections those that are there have their turn."""
ACCEPT_PAUSE_SECONDS = 0.1
CLOSED_FOR_FILES = 32
"""Idle connections that are closed when the process can open no more files."""


class Acceptor:
    """Takes connections from a socket, and serves each from its first byte on.

    A connection that has sent nothing yet is a bare socket: a crowd of these costs little, however
    quickly it comes back. Where the system gives no connection, there is a pause to make room;
    asyncio's own acceptor tries and logs again up to the backlog's number for each such moment."""

    def __init__(self, listener: socket.socket, server: OwnedServer) -> None:
        self._listener = listener
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._silent: OrderedDict[socket.socket, float] = OrderedDict()
        """Since when each has sent nothing; the oldest first."""
        self._opening: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        self._listener.setblocking(False)
        self._listener.listen(BACKLOG)
        self._loop.add_reader(self._listener, self._accept)

    def close(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._listener)
        while self._silent:
            self._drop_oldest()

    async def wait_closed(self) -> None:
        await asyncio.gather(*self._opening, return_exceptions=True)

    def sweep(self) -> None:
        """Close what has sent nothing for as long as a head may take."""
        until = monotonic() - self._server.limits.head_seconds
        while self._silent and next(iter(self._silent.values())) <= until:
            self._drop_oldest()

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
            accepted.setblocking(False)
            self._silent[accepted] = monotonic()
            self._loop.add_reader(accepted, self._serve, accepted)
            if len(self._silent) > self._server.limits.silent:
                self._drop_oldest()

    def _serve(self, accepted: socket.socket) -> None:
        """Its first byte is there, or its end."""
        self._loop.remove_reader(accepted)
        opened_at = self._silent.pop(accepted)
        task = self._loop.create_task(self._open(accepted, opened_at))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _open(self, accepted: socket.socket, opened_at: float) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(accepted.close)
            made = partial(self._server.connection, opened_at)
            await self._loop.connect_accepted_socket(made, accepted)
            stack.pop_all()

    def _drop_oldest(self) -> None:
        oldest, _ = self._silent.popitem(last=False)
        self._loop.remove_reader(oldest)
        oldest.close()

    def _make_room(self, error: OSError) -> None:
        log.warning("a connection could not be accepted", extra={"cause": error.strerror})
        self._server.pool.close_idle(CLOSED_FOR_FILES)
        for _ in range(min(CLOSED_FOR_FILES, len(self._silent))):
            self._drop_oldest()
        self._loop.remove_reader(self._listener)
        self._pause = self._loop.call_later(ACCEPT_PAUSE_SECONDS, self.start)


class OwnedServer(uvicorn.Server):
    """A server that leaves the signals of the process to its owner, and bounds its connections."""

    def __init__(self, config: uvicorn.Config, limits: ConnectionLimits) -> None:
        super().__init__(config)
        self.limits = limits
        self._acceptors: list[Acceptor] = []
        self.pool = ConnectionPool(limits)

    def connection(self, opened_at: float) -> Connection:
        return Connection(self.config, self.server_state, self.pool, opened_at=opened_at)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._acceptors = [Acceptor(listener, self) for listener in sockets or []]
        for acceptor in self._acceptors:
            acceptor.start()
        # They are closed as uvicorn closes its own.
        self.servers = self._acceptors  # type: ignore[assignment]  # all that it calls is close()
        self.started = True

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:  # ten ticks a second
            self.pool.sweep()
            for acceptor in self._acceptors:
                acceptor.sweep()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        for acceptor in self._acceptors:
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
