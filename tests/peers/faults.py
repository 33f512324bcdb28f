"""What a service may do instead of answering."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass(frozen=True)
class Status:
    """A status with the vendor's error document, or any body."""

    status: int
    retry_after: str | None = None
    body: str | None = None


@dataclass(frozen=True)
class Slow:
    """An answer that comes late."""

    seconds: float


@dataclass(frozen=True)
class Body:
    """A good status with this for an answer."""

    body: str


class Reset:
    """The connection is closed without an answer."""


class Fine:
    """No fault: a good answer, before a fault to come."""


Fault = Status | Slow | Body | Reset | Fine


@dataclass
class Faults:
    """Faults to come, one a request; a good answer where none is left."""

    script: list[Fault] = field(default_factory=list)

    async def next(self, request: web.Request) -> web.Response | None:
        fault = self.script.pop(0) if self.script else None
        match fault:
            case Status():
                headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
                text = fault.body or '{"message": "internal words of the vendor"}'
                return answer(text, status=fault.status, headers=headers)
            case Body():
                return answer(fault.body)
            case Reset():
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
            case Slow():
                await asyncio.sleep(fault.seconds)
        return None


def answer(text: str, **options: Any) -> web.Response:
    return web.Response(text=text, content_type="application/json", **options)
