"""The open connections of the web door: each has deadlines, and the oldest idle ones make room."""

from __future__ import annotations

import asyncio
import logging
import resource
from collections import OrderedDict
from dataclasses import dataclass
from time import monotonic

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from adapters.web.framing import StrictConnection
from adapters.web.guarding.problems import Problem

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 8_192
"""An idle one takes some 5 kB."""
RESERVED_FILES = 256
"""Open files that are left to the rest of the process: database, index, models, platforms."""


def most_connections() -> int:
    """How many connections may be open at once under this process's limit of open files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return min(MAX_CONNECTIONS, files - min(RESERVED_FILES, files // 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """How many connections are held, and for how long."""

    connections: int
    """All that may be open at once; a quarter of them may have sent nothing yet."""
    head_seconds: float = 10.0
    """From the opening, or from the end of the last response, to the end of a request's head."""
    stall_seconds: float = 30.0
    """Within these a reader takes at least `stall_bytes` of what waits for it."""
    stall_bytes: int = 8 * 1024

    @property
    def silent(self) -> int:
        return max(1, self.connections // 4)

    @property
    def served(self) -> int:
        return max(1, self.connections - self.silent)


class Connection(H11Protocol):
    """One connection; it is idle while no request of it is in work."""

    def __init__(
        self, config: Config, state: ServerState, pool: ConnectionPool, *, opened_at: float
    ) -> None:
        super().__init__(config, state, app_state={})
        self._opened_at = opened_at
        self.conn = StrictConnection()
        self._pool = pool
        self._waiting_bytes = 0
        self._waiting_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._pool.add(self, idle_since=self._opened_at)

    def connection_lost(self, exc: Exception | None) -> None:
        self._pool.discard(self)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._pool.mark_busy(self)

    def on_response_complete(self) -> None:
        self._pool.mark_idle(self)
        super().on_response_complete()
        self._unset_keepalive_if_required()  # the pool watches, and no byte puts it off

    def send_400_response(self, msg: str) -> None:
        self.refuse(Problem(400, "This is not a request that HTTP/1.1 allows."))

    def time_out(self) -> None:
        """End the wait for a head; who has begun one is told."""
        if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self.refuse(Problem(408, "The head of the request did not arrive in time."))
        else:
            self.transport.close()

    def refuse(self, problem: Problem) -> None:
        """Answer for the application where that is still possible, and close."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            answer = problem.response()
            headers = [*answer.raw_headers, (b"connection", b"close")]
            for event in (
                h11.Response(status_code=problem.status, headers=headers),
                h11.Data(data=bytes(answer.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def is_stalled(self, now: float, limits: ConnectionLimits) -> bool:
        """Whether its reader takes less than the least of what waits for it."""
        waiting = self.transport.get_write_buffer_size()
        if not waiting or not self._waiting_bytes or waiting > self._waiting_bytes:
            self._waiting_bytes, self._waiting_since = waiting, now
            return False
        if now - self._waiting_since < limits.stall_seconds:
            return False
        is_stalled = self._waiting_bytes - waiting < limits.stall_bytes
        self._waiting_bytes, self._waiting_since = waiting, now
        return is_stalled


class ConnectionPool:
    """All connections of one server."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._open: set[Connection] = set()
        self._idle: OrderedDict[Connection, float] = OrderedDict()
        """Since when; the longest idle ones first."""

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: Connection, *, idle_since: float) -> None:
        """A new connection is taken; when there are too many, the longest idle one goes."""
        self._open.add(connection)
        self._idle[connection] = idle_since
        if len(self._open) > self._limits.served:
            self.close_idle(1)

    def discard(self, connection: Connection) -> None:
        self._open.discard(connection)
        self._idle.pop(connection, None)

    def mark_idle(self, connection: Connection) -> None:
        if connection in self._open:
            self._idle[connection] = monotonic()
            self._idle.move_to_end(connection)

    def mark_busy(self, connection: Connection) -> None:
        self._idle.pop(connection, None)

    def close_idle(self, number: int) -> None:
        """Close so many connections to make room, the longest idle ones first."""
        log.warning("closing idle connections to make room", extra={"open": len(self._open)})
        for connection in list(self._idle)[:number]:
            self.discard(connection)
            connection.transport.abort()

    def sweep(self) -> None:
        """Close what has waited too long: for a request, or for somebody to read an answer."""
        now = monotonic()
        until = now - self._limits.head_seconds
        for connection in [each for each, since in self._idle.items() if since <= until]:
            del self._idle[connection]
            connection.time_out()
        for connection in [each for each in self._open if each.is_stalled(now, self._limits)]:
            self.discard(connection)
            connection.transport.abort()

    def abort(self) -> None:
        """Nobody is served any more, whoever still reads."""
        for connection in list(self._open):
            connection.transport.abort()
