"""Connections that want nothing: `python -m tests.faults.idle_crowd ADDRESS NUMBER SEED`.

Silent ones, half a head, a head byte by byte, half a body for Slack's door and for the sign-in,
answers that nobody reads, an end of sending in the middle. Whoever is sent away comes again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from random import Random

from tests.flow.running_house import ROOT

HEAD = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BODY = b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\nContent-Type: %b\r\n\r\nhalf"
SLACK = BODY % (b"/slack/events", b"application/json")
SIGN_IN = BODY % (b"/sign-in", b"application/x-www-form-urlencoded")
UNREAD = b"GET /static/uplot/uPlot.iife.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 6
SMALL_BUFFER = 4_096
"""What the system takes for somebody who reads nothing."""
HALVES = (b"", HEAD, SLACK, b"", HEAD, SIGN_IN, b"", HEAD, b"")
SENDS = (*HALVES * 5, UNREAD)
"""What they send; every fourth head trickles on, and every other one ends its sending."""
TRICKLE_SECONDS = 2.0
AGAIN_SECONDS = (1.0, 4.0)
"""Between these lies the time after which somebody who was sent away comes again."""
A_SECOND = 1_000
"""How many come in a second at the beginning."""


@dataclass
class Crowd:
    """How many are there, and how many have come so far."""

    address: tuple[str, int]
    random: Random
    open: int = 0
    most: int = 0
    came: int = 0

    async def stay(self, number: int) -> None:
        """One of them, until cancelled."""
        await asyncio.sleep(number / A_SECOND)
        while True:
            with contextlib.suppress(OSError):
                await self._connect(number)
            await asyncio.sleep(self.random.uniform(*AGAIN_SECONDS))

    async def _connect(self, number: int) -> None:
        loop = asyncio.get_running_loop()
        closed = loop.create_future()
        sends = SENDS[number % len(SENDS)]
        client = socket.socket()
        client.setblocking(False)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
        try:
            await loop.sock_connect(client, self.address)
            transport, _ = await loop.create_connection(lambda: Silent(closed), sock=client)
        except OSError:
            client.close()
            raise
        self.open, self.came = self.open + 1, self.came + 1
        self.most = max(self.most, self.open)
        try:
            transport.write(sends)
            if sends == UNREAD:
                transport.pause_reading()
            if sends == HEAD and number % 2:
                transport.write_eof()
            while sends == HEAD and number % 4 == 0 and not closed.done():
                transport.write(b"x")
                await asyncio.wait([closed], timeout=TRICKLE_SECONDS)
            await closed
        finally:
            self.open -= 1
            transport.abort()


class Silent(asyncio.Protocol):
    """Reads and says nothing; knows when it was closed."""

    def __init__(self, closed: asyncio.Future[None]) -> None:
        self._closed = closed

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._closed.done():
            self._closed.set_result(None)


async def stay_all(address: str, number: int, seed: int) -> Crowd:
    host, _, port = address.removeprefix("http://").strip("/").partition(":")
    crowd = Crowd((host, int(port)), Random(seed))
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    staying = [asyncio.create_task(crowd.stay(each)) for each in range(number)]
    printing = asyncio.create_task(tell_once(crowd, number))
    await ended.wait()
    for task in (*staying, printing):
        task.cancel()
    await asyncio.gather(*staying, printing, return_exceptions=True)
    return crowd


async def tell_once(crowd: Crowd, number: int) -> None:
    """A line when all of them have come."""
    while crowd.came < number:  # noqa: ASYNC110 - each of them counts itself
        await asyncio.sleep(0.05)
    print("all have come", flush=True)


@dataclass
class Stay:
    """What a crowd was when it left."""

    most: int = 0
    came: int = 0


@contextlib.asynccontextmanager
async def idle_crowd(address: str, *, number: int, seed: int) -> AsyncIterator[Stay]:
    """So many of them, in a process of their own, from when all have come until the block ends."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__, address, str(number), str(seed)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    stay = Stay()
    try:
        async with asyncio.timeout(60 + number / A_SECOND):
            assert await process.stdout.readline() == b"all have come\n"
        yield stay
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        last, _ = await process.communicate()
    stay.most, stay.came = json.loads(last)


def main() -> None:
    _, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, allowed))
    crowd = asyncio.run(stay_all(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
    print(json.dumps([crowd.most, crowd.came]))


if __name__ == "__main__":
    main()
