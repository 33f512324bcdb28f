"""Bounds on what a caller may send: how much, and how slowly."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.web.guarding.problems import Problem
from adapters.web.guarding.rules import is_streamed

NO_JSON = b"\xff"
"""Stands for a body with a zero byte: JSON has none, but its parser would guess at UTF-16."""


class BodyLimit:
    """Reads a body whole before anybody works on it, and refuses what is too large or too slow."""

    def __init__(
        self, app: ASGIApp, *, max_body: int, seconds: float, mounts: frozenset[str] = frozenset()
    ) -> None:
        self._app = app
        self._max_body = max_body
        self._seconds = seconds
        self._mounts = mounts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_left_alone(scope):
            await self._app(scope, receive, send)
            return
        try:
            self._check_length(Headers(scope=scope))
            async with asyncio.timeout(self._seconds):
                first = await self._whole(receive)
        except Problem as problem:
            await problem.response()(scope, receive, send)
            return
        except TimeoutError:
            slow = Problem(408, f"The body did not arrive within {self._seconds:g} s.")
            await slow.response()(scope, receive, send)
            return
        await self._app(scope, Replayed(first, receive), send)

    def _is_left_alone(self, scope: Scope) -> bool:
        return scope["path"] in self._mounts or is_streamed(scope["path"], scope["method"])

    def _check_length(self, headers: Headers) -> None:
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > self._max_body:
            raise self._too_large()

    async def _whole(self, receive: Receive) -> Message:
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return message
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if size > self._max_body:
                raise self._too_large()
            if not message.get("more_body", False):
                body = b"".join(chunks)
                return {
                    "type": "http.request",
                    "body": NO_JSON if b"\0" in body else body,
                    "more_body": False,
                }

    def _too_large(self) -> Problem:
        return Problem(413, f"The body is too large; at most {self._max_body:,} bytes are read.")


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
