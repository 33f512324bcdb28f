"""The private door: the same HTTP for the command line, on a socket that file rights protect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict

from fastapi import FastAPI
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.steward import Finding
from adapters.web.app import create_api
from adapters.web.body import BodyLimit
from adapters.web.caller import PRIVATE
from adapters.web.config import WebConfig
from adapters.web.parts import WebParts
from adapters.web.problems import LastResort

MAX_BODY = 1024 * 1024

Examines = Callable[[], Awaitable[Sequence[Finding]]]


def create_door(
    parts: WebParts, config: WebConfig | None = None, *, examine: Examines | None = None
) -> FastAPI:
    """HTTP for a caller who may do everything, to be served on a socket of the data folder."""
    app = create_api(parts, config or WebConfig())
    if examine is not None:
        app.add_api_route("/doctor", findings_of(examine), methods=["GET"], include_in_schema=False)
    app.add_middleware(BodyLimit, max_body=MAX_BODY, seconds=20.0)
    app.add_middleware(Trusted)
    app.add_middleware(LastResort)
    return app


def findings_of(examine: Examines) -> Callable[[], Awaitable[Response]]:
    """What is in place and what is missing, as a document."""

    async def document() -> Response:
        return JSONResponse({"findings": [asdict(found) for found in await examine()]})

    return document


class Trusted:
    """Lets everybody in as the private caller: the socket's file rights have chosen them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["caller"] = PRIVATE
        await self._app(scope, receive, send)
