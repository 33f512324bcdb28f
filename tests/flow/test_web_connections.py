"""Connections that send nothing, too little, or read nothing keep nobody else out."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.web.app import create_app
from adapters.web.config import WebConfig
from adapters.web.connections import ConnectionLimits
from adapters.web.guarding.body import MAX_ARRIVING_MOUNTED
from adapters.web.server import serve
from rag_core.agent.answer import AgentResponse
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import Progress
from tests.fakes.web_house import House
from tests.fakes.web_values import a_response
from tests.fakes.web_visit import a_config, bearer, with_keys

PATIENCE = 30.0
"""Longer than any of this takes; a test that waits so long has failed."""
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: footnote\r\n\r\n"
SHORT = ConnectionLimits(connections=100, head_seconds=0.3, stall_seconds=0.5)
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class Door:
    """A server of this process and the connections that a test opened to it."""

    port: int
    serving: asyncio.Task[None]
    streams: list[Stream] = field(default_factory=list)

    async def connect(self, sends: bytes = b"", *, buffer: int | None = None) -> Stream:
        client = socket.socket()
        client.setblocking(False)
        if buffer is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", self.port))
        stream = await asyncio.open_connection(sock=client, limit=buffer or 2**16)
        self.streams.append(stream)
        stream[1].write(sends)
        return stream

    async def close(self) -> None:
        self.serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.serving

    async def status(self, path: str, **request: Any) -> int:
        async with httpx.AsyncClient(timeout=PATIENCE, headers=bearer(a_config(), None)) as web:
            method = "POST" if request else "GET"
            answer = await web.request(method, f"http://127.0.0.1:{self.port}{path}", **request)
            return answer.status_code


@contextlib.asynccontextmanager
async def open_door(
    app: ASGIApp, limits: ConnectionLimits | None = None, listener: socket.socket | None = None
) -> AsyncIterator[Door]:
    with listener or socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        door = Door(port, asyncio.create_task(serve(app, listening, limits)))
        try:
            yield door
        finally:
            await door.close()
            for _, writer in door.streams:
                writer.close()


def web(house: House | None = None, config: WebConfig | None = None, **parts: Any) -> ASGIApp:
    return create_app(replace((house or House()).parts(), **parts), config or a_config())


async def until_closed(stream: Stream) -> bytes:
    """What still comes; a reset is an end as well."""
    pieces: list[bytes] = []
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(PATIENCE):
            while piece := await stream[0].read(2**16):
                pieces.append(piece)
    return b"".join(pieces)


@pytest.fixture
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_thousand_idle_connections_keep_nobody_out(many_files: None) -> None:
    async with open_door(web()) as door:
        for _ in range(1_100):
            await door.connect()
        assert await door.status("/livez") == 200
        assert await door.status("/chat/run", json={"message": "Who is let in?"}) == 200


async def test_a_connection_that_sends_nothing_is_closed() -> None:
    async with open_door(web(), SHORT) as door:
        assert await until_closed(await door.connect()) == b""


async def test_a_head_that_is_not_whole_in_time_is_refused_however_it_trickles_in() -> None:
    async with open_door(web(), SHORT) as door:
        stream = await door.connect(b"GET /livez HTTP/1.1\r\n")

        async def trickle() -> None:
            while True:
                stream[1].write(b"X: y\r\n")
                await asyncio.sleep(0.05)

        trickling = asyncio.create_task(trickle())
        assert (await until_closed(stream)).startswith(b"HTTP/1.1 408 ")
        trickling.cancel()


async def test_a_connection_is_kept_for_the_next_request_and_not_for_ever() -> None:
    async with open_door(web(), SHORT) as door:
        stream = await door.connect(LIVEZ)
        assert b" 200 " in await stream[0].readuntil(b"}")
        stream[1].write(LIVEZ)
        assert b" 200 " in await stream[0].readuntil(b"}")
        stream[1].write(b"G")
        assert (await until_closed(stream)).startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_nobody_waits_for_does_not_keep_the_connection() -> None:
    async with open_door(web(config=with_keys()), SHORT) as door:
        stream = await door.connect(
            b"POST /chat/run HTTP/1.1\r\nHost: footnote\r\nContent-Length: 1000000\r\n\r\n"
        )

        async def trickle() -> None:
            while True:
                stream[1].write(b"x")
                await asyncio.sleep(0.05)

        trickling = asyncio.create_task(trickle())
        assert b" 401 " in await until_closed(stream)
        trickling.cancel()


async def test_the_longest_idle_connections_make_room_for_new_ones() -> None:
    limits = ConnectionLimits(connections=20)
    async with open_door(web(), limits) as door:
        for _ in range(60):
            await door.connect()
        assert await door.status("/livez") == 200
        for stream in door.streams[:40]:
            assert await until_closed(stream) == b""
        door.streams[-1][1].write(LIVEZ)
        assert b" 200 " in await door.streams[-1][0].readuntil(b"}")


async def test_a_request_in_work_is_never_closed_to_make_room() -> None:
    may_end = asyncio.Event()

    async def answerer(question: IncomingQuestion, progress: Progress) -> AgentResponse:
        await may_end.wait()
        return a_response(question)

    house = House(answerer=answerer)
    async with open_door(web(house), ConnectionLimits(connections=5)) as door:
        asking = asyncio.create_task(door.status("/chat/run", json={"message": "Who stays?"}))
        while not house.ledger.entries:  # noqa: ASYNC110 - it is on its way through a socket
            await asyncio.sleep(0.005)
        for _ in range(30):
            await door.connect()
        assert await until_closed(door.streams[0]) == b""
        may_end.set()
        assert await asking == 200


async def slack_door(scope: Scope, receive: Receive, send: Send) -> None:
    """As Slack's is: reads a body of any kind, and answers."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    length = str(len(body)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"length", length)]})
    await send({"type": "http.response.body", "body": body})


async def test_probes_and_slack_are_answered_while_all_other_places_are_taken() -> None:
    may_end = asyncio.Event()

    async def answerer(question: IncomingQuestion, progress: Progress) -> AgentResponse:
        await may_end.wait()
        return a_response(question)

    house = House(answerer=answerer)
    app = web(house, a_config(max_requests=3), mounts={"/slack/events": slack_door})
    async with open_door(app) as door:
        ask = {"message": "Who waits?"}
        asking = [asyncio.create_task(door.status("/chat/run", json=ask)) for _ in range(3)]
        while len(house.ledger.entries) < 3:  # noqa: ASYNC110 - they come through sockets
            await asyncio.sleep(0.005)
        assert await door.status("/chat/run", json=ask) == 503
        assert await door.status("/livez") == 200
        assert await door.status("/readyz") == 200
        assert await door.status("/slack/events", content=b"{}") == 200
        may_end.set()
        assert await asyncio.gather(*asking) == [200, 200, 200]
        assert await door.status("/chat/run", json=ask) == 200


@pytest.mark.parametrize("path", ["/slack/events", "/sign-in"])
async def test_a_body_that_stays_away_ends_with_a_408(path: str) -> None:
    app = web(config=with_keys(body_seconds=0.2), mounts={"/slack/events": slack_door})
    async with open_door(app) as door:
        head = f"POST {path} HTTP/1.1\r\nHost: footnote\r\nContent-Length: 9\r\n\r\n"
        stream = await door.connect(head.encode() + b"half")
        assert b" 408 " in await stream[0].readline()


async def test_bodies_that_stay_away_leave_slack_its_place() -> None:
    app = web(config=a_config(body_seconds=PATIENCE), mounts={"/slack/events": slack_door})
    head = b"POST /slack/events HTTP/1.1\r\nHost: footnote\r\nContent-Length: 9\r\n\r\n"
    async with open_door(app) as door:
        for _ in range(MAX_ARRIVING_MOUNTED + 5):
            await door.connect(head + b"half")
        assert await door.status("/slack/events", content=b"whole\0") == 200
        for stream in door.streams[:5]:
            assert b" 408 " in await stream[0].readline()


class EndlessAnswer:
    """Writes as long as somebody is connected."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.ended = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        leaving = asyncio.create_task(disconnected(receive))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        self.began.set()
        while not leaving.done():
            await send({"type": "http.response.body", "body": b"x" * 2**14, "more_body": True})
            await asyncio.sleep(0)
        self.ended.set()


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def test_a_reader_who_never_reads_is_cut_off_and_holds_no_answer() -> None:
    answer = EndlessAnswer()
    async with open_door(answer, SHORT) as door:
        client = socket.create_connection(("127.0.0.1", door.port))
        client.sendall(LIVEZ)
        async with asyncio.timeout(PATIENCE):
            await answer.ended.wait()
        client.close()


async def test_a_reader_who_reads_on_is_not_cut_off() -> None:
    answer = EndlessAnswer()
    async with open_door(answer, SHORT) as door:
        stream = await door.connect(LIVEZ)
        read = 0
        while read < 64 * 2**20:
            read += len(await stream[0].read(2**20))
        assert not answer.ended.is_set()


async def test_at_the_end_of_the_server_nobody_stays_connected() -> None:
    answer = EndlessAnswer()
    async with open_door(answer) as door:
        with socket.create_connection(("127.0.0.1", door.port)) as client:
            client.sendall(LIVEZ)
            await answer.began.wait()
            connected = open_sockets()
            await door.close()
            async with asyncio.timeout(PATIENCE):
                # The listener and the server's side.
                while open_sockets() > connected - 2:  # noqa: ASYNC110 - the system closes them
                    await asyncio.sleep(0.01)


def open_sockets() -> int:
    files = [Path(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
    return sum(file.is_socket() for file in files)


class ExhaustedListener(socket.socket):
    """A socket of a process that can open no more files, until it can again."""

    failures = 5

    def accept(self) -> tuple[socket.socket, Any]:
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


async def test_without_open_files_idle_connections_go_and_the_door_opens_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    listener = ExhaustedListener()
    listener.failures = 0
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    async with open_door(web(), listener=listener) as door:
        idle = await door.connect()
        assert await door.status("/livez") == 200
        listener.failures = 5
        assert await door.status("/livez") == 200
        assert await until_closed(idle) == b""
    warned = [r for r in caplog.records if r.getMessage() == "a connection could not be accepted"]
    assert len(warned) == 5, "one line each time that it was tried"
    assert not [record for record in caplog.records if record.levelno > logging.WARNING]
