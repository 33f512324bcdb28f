"""Bounds on what a caller may send: how much, and how slowly."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.web.guarding.problems import Problem, invalid
from adapters.web.guarding.rules import is_streamed


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
                body = checked_text(b"".join(chunks))
                return {"type": "http.request", "body": body, "more_body": False}

    def _too_large(self) -> Problem:
        return Problem(413, f"The body is too large; at most {self._max_body:,} bytes are read.")


def checked_text(body: bytes) -> bytes:
    """Only UTF-8 is read; a parser of JSON would guess at other encodings."""
    try:
        found = body.decode("utf-8")
    except UnicodeDecodeError:
        found = "\0"
    if "\0" in found:
        raise invalid("body", "The body is not text in UTF-8.", "text in UTF-8")
    return body


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
