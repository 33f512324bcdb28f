"""`/sign-in` and `/sign-out`: a browser shows its key once."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from adapters.web.config import WebConfig
from adapters.web.guarding.entrance import CallerOf
from adapters.web.guarding.guesses import WrongKeys
from adapters.web.guarding.problems import Problem
from adapters.web.guarding.session import BrowserSession, BrowserSessions
from adapters.web.pages.templates import fill, page


class SignInRoutes:
    """Asks for a key and keeps a session cookie in its place."""

    def __init__(self, config: WebConfig, sessions: BrowserSessions, wrong_keys: WrongKeys) -> None:
        self._config = config
        self._sessions = sessions
        self._wrong_keys = wrong_keys

    def router(self) -> APIRouter:
        router = APIRouter()
        router.add_api_route("/sign-in", self.form, methods=["GET"])
        router.add_api_route("/sign-in", self.sign_in, methods=["POST"])
        router.add_api_route("/sign-out", self.sign_out, methods=["POST"])
        return router

    async def form(self) -> Response:
        if self._config.open_loopback:
            return RedirectResponse("/", status_code=303)
        return self._page()

    async def sign_in(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        key = self._config.key_of(form.get("key", [""])[0].strip())
        if key is None:
            return await self._refused()
        response = RedirectResponse("/", status_code=303)
        await self._sessions.begin(key, response, origin=request.headers.get("origin", ""))
        return response

    async def sign_out(self, request: Request, caller: CallerOf) -> Response:
        response = Response(status_code=204)
        session = request.state.session
        if isinstance(session, BrowserSession):
            await self._sessions.end(session, response)
        return response

    async def _refused(self) -> Response:
        try:
            await self._wrong_keys.slow_down()
        except Problem as problem:
            return self._page(problem.detail, status=problem.status)
        return self._page("This key is not known here.", status=401)

    def _page(self, notice: str = "", *, status: int = 200) -> Response:
        how = "sign-in-local" if self._config.is_local_only else "sign-in-key"
        shown = page("sign-in", title="Sign in · Footnote", notice=notice, how=fill(how))
        return HTMLResponse(shown, status_code=status)
