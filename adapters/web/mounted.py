"""Another platform's application on the web door's port."""

from __future__ import annotations

from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send


class Mounted:
    """Hands requests on as they are; an instance, so that a plain function is taken for an app."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def mounted(path: str, app: ASGIApp) -> Route:
    return Route(path, Mounted(app), include_in_schema=False)
