"""Bounds on what a caller may send: how much, how slowly, and how many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.web.guarding.problems import Problem
from adapters.web.guarding.rules import is_streamed

NO_JSON = b"\xff"
"""Stands for a body with a zero byte: JSON has none, but its parser would guess at UTF-16."""
MAX_MOUNTED_BODY = 1_000_000
"""What other platforms' applications read at most, by their own account."""
MAX_ARRIVING = 256
MAX_ARRIVING_MOUNTED = 64


class ArrivingBodies:
    """Bodies on their way here; where there are too many, the oldest one is given up.

    So nobody can take the places by sending slowly: an honest body is here at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._deadlines: dict[asyncio.Timeout, None] = {}

    @contextmanager
    def one_more(self, deadline: asyncio.Timeout) -> Iterator[None]:
        if len(self._deadlines) >= self._most:
            oldest = next(iter(self._deadlines))
            del self._deadlines[oldest]
            if not oldest.expired():
                oldest.reschedule(asyncio.get_running_loop().time())
        self._deadlines[deadline] = None
        try:
            yield
        finally:
            self._deadlines.pop(deadline, None)


class BodyLimit:
    """Reads a body whole before anybody works on it, and refuses what is too large or too slow."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        max_body: int,
        seconds: float,
        mounts: frozenset[str] = frozenset(),
        most: int = MAX_ARRIVING,
    ) -> None:
        self._app = app
        self._max_body = max_body
        self._seconds = seconds
        self._mounts = mounts
        self._arriving = ArrivingBodies(min(MAX_ARRIVING, most))
        self._arriving_mounted = ArrivingBodies(min(MAX_ARRIVING_MOUNTED, most))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_streamed(scope["path"], scope["method"]):
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds) as deadline:
                first = await self._read(scope, receive, deadline)
        except Problem as problem:
            await problem.response()(scope, receive, send)
            return
        except TimeoutError:
            slow = Problem(408, "The body did not arrive in time.")
            await slow.response()(scope, receive, send)
            return
        if first["type"] == "http.request":  # or else the caller has left
            await self._app(scope, Replayed(first, receive), send)

    async def _read(self, scope: Scope, receive: Receive, deadline: asyncio.Timeout) -> Message:
        """The whole body as one message; for another platform's signature as it was sent."""
        if scope["path"] in self._mounts:
            with self._arriving_mounted.one_more(deadline):
                return await whole_body(scope, receive, most=MAX_MOUNTED_BODY)
        with self._arriving.one_more(deadline):
            message = await whole_body(scope, receive, most=self._max_body)
        if b"\0" in message.get("body", b""):
            message["body"] = NO_JSON
        return message


async def whole_body(scope: Scope, receive: Receive, *, most: int) -> Message:
    """The body in one message, or what came instead of it."""
    length = Headers(scope=scope).get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > most:
        raise too_large(most)
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return message
        chunks.append(message.get("body", b""))
        size, more = size + len(chunks[-1]), message.get("more_body", False)
        if size > most:
            raise too_large(most)
    return {"type": "http.request", "body": b"".join(chunks), "more_body": False}


def too_large(most: int) -> Problem:
    return Problem(413, f"The body is too large; at most {most:,} bytes are read.")


class Replayed:
    """A receive channel that gives the body that was already read, then what really comes."""

    def __init__(self, first: Message, receive: Receive) -> None:
        self._first: Message | None = first
        self._receive = receive

    async def __call__(self) -> Message:
        if self._first is not None:
            first, self._first = self._first, None
            return first
        return await self._receive()
