"""Stands before every address of the web door: who may come in, how often, with how much."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.web.config import ApiKey, WebConfig
from adapters.web.guarding.caller import LOOPBACK, Caller
from adapters.web.guarding.problems import Problem, too_many
from adapters.web.guarding.rate import SlidingLimit
from adapters.web.guarding.rules import is_open, is_page, needs_no_key, scope_of
from adapters.web.guarding.session import COOKIE, BrowserSession, session_of

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
CSRF_HEADER = "x-csrf-token"


class Guard:
    """Lets a request through with its Caller, or answers it with a problem."""

    def __init__(
        self, app: ASGIApp, *, config: WebConfig, limit: SlidingLimit, mounts: frozenset[str]
    ) -> None:
        self._app = app
        self._config = config
        self._limit = limit
        self._mounts = mounts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or is_open(path) or path in self._mounts:
            await self._app(scope, receive, send)
            return
        try:
            scope.setdefault("state", {})["caller"] = self._admit(scope)
        except Problem as problem:
            refusal = problem.response(Headers(scope=scope).get("accept", ""))
            if problem.status == 401 and wants_page(scope):
                refusal = RedirectResponse("/sign-in", status_code=303)
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _admit(self, scope: Scope) -> Caller | None:
        headers = Headers(scope=scope)
        if not self._config.api_keys:
            check_loopback(scope, headers)
            return LOOPBACK
        if needs_no_key(scope["path"]):
            check_origin(headers, scope)
            return None
        caller = self._known(scope, headers)
        if caller.scope < scope_of(scope["path"]):
            raise Problem(403, "This key may not do that: its scope is too small.")
        if caller.rate_key and (seconds := self._limit.wait_for(caller.rate_key)):
            raise too_many(seconds)
        return caller

    def _known(self, scope: Scope, headers: Headers) -> Caller:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            for key in self._config.api_keys:
                if hmac.compare_digest(key.secret.encode(), token.strip().encode()):
                    return key_caller(key)
            raise unknown_caller("This key is not known here.")
        session = session_of(session_cookie(headers), self._config.api_keys)
        if session is None:
            raise unknown_caller("An API key is needed: Authorization: Bearer KEY.")
        check_csrf(scope, headers, session)
        return session_caller(session)


def key_caller(key: ApiKey) -> Caller:
    return Caller(
        owner=f"key-{key.fingerprint}",
        scope=key.scope,
        books=key.books,
        rate_key=key.fingerprint,
    )


def session_caller(session: BrowserSession) -> Caller:
    return Caller(
        owner=session.owner,
        scope=session.key.scope,
        books=session.key.books,
        rate_key=session.key.fingerprint,
        csrf_token=session.csrf_token,
    )


def unknown_caller(sentence: str) -> Problem:
    return Problem(401, sentence, headers={"WWW-Authenticate": "Bearer"})


def session_cookie(headers: Mapping[str, str]) -> str:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def wants_page(scope: Scope) -> bool:
    """Whether a person's browser asks for a page, and not a program for a document."""
    headers = Headers(scope=scope)
    return is_page(scope["path"]) and "text/html" in headers.get("accept", "")


def check_csrf(scope: Scope, headers: Mapping[str, str], session: BrowserSession) -> None:
    """A request that comes with a cookie must show that our own page made it."""
    if scope["method"] in SAFE_METHODS:
        return
    shown = headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(shown.encode(), session.csrf_token.encode()):
        raise Problem(403, "The page is out of date. Load it again.")


def check_loopback(scope: Scope, headers: Headers) -> None:
    """Without keys only this machine is served, and only to itself."""
    client = scope.get("client")
    if client is None or not is_loopback(client[0]):
        raise Problem(403, "Without API keys only this machine is served. See FOOTNOTE_API_KEYS.")
    if any(name in headers for name in FORWARDED):
        raise Problem(403, "Without API keys nothing is served through a proxy.")
    if host_name(headers.get("host", "")) not in LOCAL_NAMES:
        raise Problem(403, "Without API keys this is served as localhost only.")
    check_origin(headers, scope)


def check_origin(headers: Headers, scope: Scope) -> None:
    """What a browser sends for another site's page is refused."""
    origin = headers.get("origin")
    if origin is not None and origin_host(origin) != headers.get("host", ""):
        raise Problem(403, "Another site's page may not ask here.")
    foreign = headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}
    if foreign and not is_navigation(headers, scope):
        raise Problem(403, "Another site's page may not ask here.")


def is_navigation(headers: Headers, scope: Scope) -> bool:
    """Somebody followed a link to one of our pages."""
    return scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"


def is_loopback(address: str) -> bool:
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    mapped = getattr(ip, "ipv4_mapped", None)
    return ip.is_loopback or (mapped is not None and mapped.is_loopback)


def origin_host(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
