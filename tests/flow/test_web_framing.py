"""Requests whose end a proxy could see elsewhere are refused, and nothing behind them is read."""

from __future__ import annotations

import contextlib
import itertools
import logging

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Receive, Scope, Send

from adapters.web.framing import StrictConnection
from tests.fakes.web_house import House
from tests.fakes.web_visit import with_keys
from tests.flow.test_web_connections import open_door, until_closed, web

HEAD = b"POST /first HTTP/1.1\r\nHost: footnote\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: footnote\r\n\r\n"
AMBIGUOUS = {
    "both": HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "both, the other order": HEAD
    + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    "both, in odd letters": HEAD
    + b"cOnTent-length: 4\r\nTRANSFER-encoding: Chunked\r\n\r\n0\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 4\r\nContent-Length: 0\r\n\r\nbody",
    "the same length twice": HEAD + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
    "a list of lengths": HEAD + b"Content-Length: 4, 4\r\n\r\nbody",
    "a length with a sign": HEAD + b"Content-Length: +4\r\n\r\nbody",
    "a length in hex": HEAD + b"Content-Length: 0x4\r\n\r\nbody",
    "a length with a space before the colon": HEAD + b"Content-Length : 4\r\n\r\nbody",
    "two codings": HEAD
    + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "another coding": HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a coding in HTTP/1.0": b"POST /first HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "another version": b"GET /first HTTP/1.2\r\nHost: footnote\r\n\r\n",
    "HTTP/2 without TLS": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a bare line feed": b"GET /first HTTP/1.1\nHost: footnote\n\n",
    "a bare line feed in the head": b"GET /first HTTP/1.1\r\nHost: footnote\nX: y\r\n\r\n",
    "a bare line feed at its end": b"GET /first HTTP/1.1\r\nHost: footnote\r\n\n",
    "a bare carriage return": b"GET /first HTTP/1.1\r\nHost: footnote\rX: y\r\n\r\n",
    "a folded line": HEAD + b"X: y\r\n Content-Length: 4\r\n\r\nbody",
    "a folded coding": HEAD + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a space before the first field": b"GET /first HTTP/1.1\r\n Host: footnote\r\n\r\n",
    "no host": b"GET /first HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /first HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
}  # fmt: skip
BODIES = {
    "a chunk extension with a line feed": b"4;x\ny\r\nbody\r\n0\r\n\r\n",
    "a chunk size with a space": b"4 \r\nbody\r\n0\r\n\r\n",
    "a chunk size with a sign": b"+4\r\nbody\r\n0\r\n\r\n",
    "a chunk that is longer": b"4\r\nbodybody\r\n0\r\n\r\n",
    "a length behind the body": b"0\r\nContent-Length: 4\r\nTransfer-Encoding: x\r\n\r\n",
    "a trailer with a bare line feed": b"0\r\nX: y\n\r\n",
}
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = (
    b"GET /a HTTP/1.1\r\nHost: footnote\r\n\r\n",
    b"POST /b HTTP/1.1\r\nHost: footnote\r\nContent-Length: 4\r\n\r\nb\r\nd",
    b"POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n\n\n\n\n\r\n0\r\n\r\n",
    b"POST /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"1;x=y\r\n \r\n0\r\nX: y\r\n\r\n",
)  # fmt: skip


class Application:
    """Answers everything, and keeps what it was asked for."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.paths.append(scope["path"])
        message = await receive()
        while message.get("more_body"):
            message = await receive()
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("name", AMBIGUOUS)
async def test_a_head_that_can_be_read_in_two_ways_is_refused(name: str) -> None:
    app = Application()
    async with open_door(app) as door:
        answer = await until_closed(await door.connect(AMBIGUOUS[name] + SMUGGLED))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in answer
    assert b"\r\nconnection: close\r\n" in answer.lower()
    assert b" 200 " not in answer
    assert app.paths == []


@pytest.mark.parametrize("name", BODIES)
async def test_a_body_that_can_be_read_in_two_ways_ends_the_connection(name: str) -> None:
    app = Application()
    async with open_door(app) as door:
        answer = await until_closed(await door.connect(CHUNKED + BODIES[name] + SMUGGLED))
    assert b" 200 " not in answer
    assert "/smuggled" not in app.paths


async def test_requests_behind_each_other_are_answered_in_order() -> None:
    app = Application()
    async with open_door(app) as door:
        stream = await door.connect(b"".join(WHOLE))
        for _ in WHOLE:
            assert b" 200 " in await stream[0].readuntil(b"\r\n\r\n")
    assert app.paths == ["/a", "/b", "/c", "/d"]


async def test_garbage_behind_an_early_refusal_is_no_error_of_ours(
    caplog: pytest.LogCaptureFixture,
) -> None:
    head = b"POST /chat/run HTTP/1.1\r\nHost: footnote\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with open_door(web(House(), with_keys())) as door:
        stream = await door.connect(head)
        assert b" 401 " in await stream[0].readuntil(b"}")
        stream[1].write(b"no chunk\r\n")
        assert await until_closed(stream) == b""
    assert not [record for record in caplog.records if record.levelno > logging.WARNING]


def verdict(pieces: list[bytes]) -> list[object]:
    """What a connection makes of these bytes."""
    connection, events = StrictConnection(), []
    for piece in pieces:
        connection.receive_data(piece)
        with contextlib.suppress(h11.RemoteProtocolError):
            while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                events.append(type(event) if not isinstance(event, h11.Data) else h11.Data)
    kinds = [
        each for at, each in enumerate(events) if each is not h11.Data or events[at - 1] != each
    ]
    return [*kinds, connection.their_state]


@pytest.mark.parametrize(
    "request_", [*AMBIGUOUS.values(), *(CHUNKED + b for b in BODIES.values()), *WHOLE]
)
@given(cuts=st.lists(st.integers(0, 120), max_size=6))
def test_how_the_bytes_arrive_changes_nothing(request_: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(request_)) for cut in cuts), len(request_)]
    pieces = [request_[a:b] for a, b in itertools.pairwise(places) if a < b]
    one_by_one = [request_[at : at + 1] for at in range(len(request_))]
    assert verdict(pieces) == verdict(one_by_one)
