"""Stands before every address of the web door: who may come in, how often, with how much."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.web.config import ApiKey, WebConfig
from adapters.web.config import Scope as KeyScope
from adapters.web.guarding.caller import LOCAL, Caller
from adapters.web.guarding.guesses import WrongKeys
from adapters.web.guarding.origin import check_client, check_host, check_not_forwarded, check_page
from adapters.web.guarding.problems import Problem, too_many
from adapters.web.guarding.rate import SlidingLimit
from adapters.web.guarding.rules import is_open, is_page, needs_no_key, scope_of
from adapters.web.guarding.session import BrowserSession, BrowserSessions

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
CSRF_HEADER = "x-csrf-token"
KEY_IN_LINK = "key"
SIGN_IN = "/sign-in"


class Guard:
    """Lets a request through with its Caller, or answers it with a problem."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        config: WebConfig,
        limit: SlidingLimit,
        sessions: BrowserSessions,
        wrong_keys: WrongKeys,
        mounts: frozenset[str],
    ) -> None:
        self._app = app
        self._config = config
        self._limit = limit
        self._sessions = sessions
        self._wrong_keys = wrong_keys
        self._mounts = mounts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or is_open(path) or path in self._mounts:
            await self._app(scope, receive, send)
            return
        refusal = await self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refusal(scope, receive, send)

    async def _refusal(self, scope: Scope) -> Response | None:
        """None: the request may pass, and its caller is known."""
        headers = Headers(scope=scope)
        try:
            self._check_way_here(scope, headers)
            if (key := key_in_link(scope)) and self._config.local_key is not None:
                return await self._follow_link(scope, headers, key)
            scope.setdefault("state", {}).update(caller=None, session=None)
            await self._admit(scope, headers)
        except Problem as problem:
            if problem.status == 401 and wants_page(scope):
                return RedirectResponse(SIGN_IN, status_code=303)
            return problem.response(headers.get("accept", ""))
        return None

    def _check_way_here(self, scope: Scope, headers: Headers) -> None:
        if self._config.is_local_only:
            check_client(scope)
        if self._config.open_loopback:
            check_not_forwarded(headers)
            check_host(headers, self._config)

    async def _admit(self, scope: Scope, headers: Headers) -> None:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":  # proof by itself: no page of another site can send it
            caller = await self._key_holder(token.strip())
        elif needs_no_key(scope["path"]):
            check_page(headers, scope, self._config)
            return
        else:
            check_page(headers, scope, self._config)
            caller = await self._browser(scope, headers)
        if caller.scope < scope_of(scope["path"]):
            raise Problem(403, "This key may not do that: its scope is too small.")
        if caller.rate_key and (seconds := self._limit.wait_for(caller.rate_key)):
            raise too_many(seconds)
        scope["state"]["caller"] = caller

    async def _key_holder(self, token: str) -> Caller:
        key = self._config.key_of(token)
        if key is None:
            await self._wrong_keys.slow_down()
            raise unknown_caller("This key is not known here.")
        return caller_with(key, owner=f"key-{key.fingerprint}")

    async def _browser(self, scope: Scope, headers: Headers) -> Caller:
        """Whoever comes with a session cookie, or needs none."""
        session = await self._sessions.find(headers)
        if session is not None:
            check_csrf(scope, headers, session)
            scope["state"]["session"] = session
            return caller_with(session.key, owner=session.owner, csrf_token=session.csrf_token)
        if self._config.open_loopback:
            return LOCAL
        raise unknown_caller("A key is needed: Authorization: Bearer KEY.")

    async def _follow_link(self, scope: Scope, headers: Headers, shown: str) -> Response:
        """Sign the browser in that opened the printed link, and take the key out of its address."""
        check_host(headers, self._config)
        key = self._config.key_of(shown)
        if key is None:
            await self._wrong_keys.slow_down()
            raise unknown_caller("This link is not valid any more.")
        response = RedirectResponse(without_key(scope), status_code=303)
        await self._sessions.begin(key, response)
        return response


def caller_with(key: ApiKey, *, owner: str, csrf_token: str = "") -> Caller:
    if key.is_local:  # one person's computer: all its browsers show the same threads
        return Caller(owner=LOCAL.owner, scope=key.scope, every_book=True, csrf_token=csrf_token)
    return Caller(
        owner=owner,
        scope=key.scope,
        every_book=key.scope is KeyScope.ADMIN and not key.books,
        books=key.books,
        rate_key=key.fingerprint,
        csrf_token=csrf_token,
    )


def unknown_caller(sentence: str) -> Problem:
    return Problem(401, sentence, headers={"WWW-Authenticate": "Bearer"})


def wants_page(scope: Scope) -> bool:
    """Whether a person's browser asks for a page, and not a program for a document."""
    headers = Headers(scope=scope)
    return is_page(scope["path"]) and "text/html" in headers.get("accept", "")


def key_in_link(scope: Scope) -> str:
    """The key of a sign-in link; empty where there is none."""
    if scope["method"] != "GET" or not is_page(scope["path"]):
        return ""
    return dict(query_of(scope)).get(KEY_IN_LINK, "")


def without_key(scope: Scope) -> str:
    rest = urlencode([(name, value) for name, value in query_of(scope) if name != KEY_IN_LINK])
    return f"{scope['path']}?{rest}" if rest else str(scope["path"])


def query_of(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)


def check_csrf(scope: Scope, headers: Mapping[str, str], session: BrowserSession) -> None:
    """A request that comes with a cookie must show that our own page made it."""
    if scope["method"] in SAFE_METHODS:
        return
    shown = headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(shown.encode(), session.csrf_token.encode()):
        raise Problem(403, "The page is out of date. Load it again.")
