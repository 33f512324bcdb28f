"""Bounds how many requests are in work at once."""

from __future__ import annotations

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.web.guarding.problems import unavailable
from adapters.web.guarding.rules import OPEN


class RequestLimit:
    """Refuses a request when too many others are in work.

    What must always be answered (probes, Slack's events) has a share of its own for each path, and
    requests without a key have another share than those with one: slow readers take no asker's.
    It stands behind the guard and behind the body: who waits there holds no place here."""

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self._app = app
        self._most = most
        self._in_work: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        share = share_of(scope)
        if self._in_work[share] >= self._most:
            refusal = unavailable("Too many requests are in work right now.").response()
            await refusal(scope, receive, send)
            return
        self._in_work[share] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_work[share] -= 1


def share_of(scope: Scope) -> str:
    if scope["path"] in OPEN:
        return str(scope["path"])
    return "keyless" if scope.get("state", {}).get("caller") is None else "callers"
