"""`/sign-in` and `/sign-out`: a browser shows its key once."""

from __future__ import annotations

import hmac
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from adapters.web.config import ApiKey, WebConfig
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.rate import SlidingLimit
from adapters.web.guarding.session import COOKIE, MAX_AGE, BrowserSession
from adapters.web.pages.templates import page

TRIES_PER_MINUTE = 20


class SignInRoutes:
    """Asks for a key and keeps a session cookie in its place."""

    def __init__(self, config: WebConfig) -> None:
        self._keys = config.api_keys
        self._secure = (config.public_url or "").startswith("https://")
        self._tries = SlidingLimit(requests=TRIES_PER_MINUTE)

    def router(self) -> APIRouter:
        router = APIRouter()
        router.add_api_route("/sign-in", self.form, methods=["GET"])
        router.add_api_route("/sign-in", self.enter, methods=["POST"])
        router.add_api_route("/sign-out", self.leave, methods=["POST"])
        return router

    async def form(self) -> Response:
        if not self._keys:
            return RedirectResponse("/", status_code=303)
        return HTMLResponse(page("sign-in", title="Come in · Footnote", notice=""))

    async def enter(self, request: Request) -> Response:
        address = request.client.host if request.client else ""
        if self._tries.wait_for(address):
            return self._refused("Too many tries. Wait a minute, then try again.", status=429)
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        key = self._key(form.get("key", [""])[0].strip())
        if key is None:
            return self._refused("This key is not known here.", status=401)
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(
            COOKIE,
            BrowserSession.begin(key).cookie,
            max_age=MAX_AGE,
            httponly=True,
            samesite="lax",
            secure=self._secure,
        )
        return response

    async def leave(self, caller: CallerOf) -> Response:
        response = Response(status_code=204)
        response.delete_cookie(COOKIE)
        return response

    def _key(self, shown: str) -> ApiKey | None:
        for key in self._keys:
            if hmac.compare_digest(key.secret.encode(), shown.encode()):
                return key
        return None

    def _refused(self, sentence: str, *, status: int) -> Response:
        return HTMLResponse(
            page("sign-in", title="Come in · Footnote", notice=sentence), status_code=status
        )
