"""A way to a server on which connections are late, cut, reset, half open or refused; by a seed."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from random import Random
from socket import SO_LINGER, SOL_SOCKET, socket

SIZE = 65_536
RESET_AT_CLOSE = struct.pack("ii", 1, 0)


@dataclass(kw_only=True)
class Weather:
    """How likely each trouble is for a connection; what is left over is fair weather."""

    refuse: float = 0.0
    reset: float = 0.0
    cut: float = 0.0
    half_open: float = 0.0
    latency: float = 0.0
    """Seconds that every answer is late, at the most."""
    cut_within: int = 2_000
    """A cut comes within so many bytes of the answer."""


@dataclass
class FaultProxy:
    """Every connection draws its fate; the same seed and the same order draw the same fates."""

    host: str
    port: int
    random: Random
    weather: Weather = field(default_factory=Weather)
    address: str = ""
    fates: Counter[str] = field(default_factory=Counter)
    down: bool = False
    """Nobody is there: connections are reset at once."""
    _open: set[asyncio.Task[None]] = field(default_factory=set)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self._writers.add(writer)
        try:
            await self._serve(reader, writer)
        except* (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the task ends here in any case: nobody waits for it but `close`
        finally:
            self._open.discard(task)
            self._writers.discard(writer)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        fate = "refuse" if self.down else self._drawn()
        self.fates[fate] += 1
        if fate == "refuse":
            reset(writer)
            return
        onward, back = await asyncio.open_connection(self.host, self.port)
        try:
            async with asyncio.TaskGroup() as tasks:
                up = tasks.create_task(pumped(reader, back))
                await self._answer(fate, onward, writer)
                up.cancel()
        finally:
            back.close()

    def _drawn(self) -> str:
        drawn, weather = self.random.random(), self.weather
        for name in ("refuse", "reset", "cut", "half_open"):
            drawn -= getattr(weather, name)
            if drawn < 0:
                return name
        return "fair"

    async def _answer(
        self, fate: str, onward: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Pass the server's bytes on, as far as the connection's fate lets them."""
        left = self.random.randrange(1, self.weather.cut_within) if fate == "cut" else None
        while data := await onward.read(SIZE):
            await asyncio.sleep(self.random.random() * self.weather.latency)
            if fate == "half_open":
                await asyncio.sleep(3600)  # it was heard, and nothing ever comes back
            if fate == "reset":
                reset(writer)
                return
            if left is not None and len(data) >= left:
                writer.write(data[:left])
                await writer.drain()
                reset(writer)
                return
            left = None if left is None else left - len(data)
            writer.write(data)
            await writer.drain()

    def reset_all(self) -> None:
        """End every connection that is open now."""
        for writer in self._writers:
            reset(writer)

    async def close(self) -> None:
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)


async def pumped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(SIZE):
            writer.write(data)
            await writer.drain()


def reset(writer: asyncio.StreamWriter) -> None:
    """End the connection as a crashed host does."""
    raw: socket | None = writer.get_extra_info("socket")
    if raw is not None and raw.fileno() >= 0:
        raw.setsockopt(SOL_SOCKET, SO_LINGER, RESET_AT_CLOSE)
    writer.transport.abort()


@contextlib.asynccontextmanager
async def fault_proxy(
    host: str, port: int, *, seed: int, weather: Weather | None = None
) -> AsyncIterator[FaultProxy]:
    """The way, on a free loopback port."""
    proxy = FaultProxy(host, port, Random(seed), weather or Weather())
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    own_host, own_port = server.sockets[0].getsockname()[:2]
    proxy.address = f"{own_host}:{own_port}"
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
