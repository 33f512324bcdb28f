"""The private door: the same HTTP for the command line, on a socket that file rights protect."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.web.app import create_api
from adapters.web.body import BodyLimit
from adapters.web.caller import PRIVATE
from adapters.web.config import WebConfig
from adapters.web.parts import WebParts
from adapters.web.problems import LastResort

MAX_BODY = 1024 * 1024


def create_door(parts: WebParts, config: WebConfig | None = None) -> FastAPI:
    """HTTP for a caller who may do everything, to be served on a socket of the data folder."""
    app = create_api(parts, config or WebConfig())
    app.add_middleware(BodyLimit, max_body=MAX_BODY, seconds=20.0)
    app.add_middleware(Trusted)
    app.add_middleware(LastResort)
    return app


class Trusted:
    """Lets everybody in as the private caller: the socket's file rights have chosen them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["caller"] = PRIVATE
        await self._app(scope, receive, send)
