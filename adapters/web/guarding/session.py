"""Browser sessions: a random cookie stands for a key, and the server knows when it ends."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie

from starlette.responses import Response

from adapters.web.config import ApiKey, WebConfig
from rag_core.ports.sessions import SignIn, SignInStore

COOKIE = "footnote_session"
LASTS = timedelta(days=30)
TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSession:
    """One browser that showed a key."""

    token: str = field(repr=False)
    key: ApiKey = field(repr=False)

    @property
    def digest(self) -> str:
        """What is stored of the cookie: nobody who reads the database can sign in with it."""
        return sha256(self.token.encode()).hexdigest()

    @property
    def csrf_token(self) -> str:
        return hmac.new(self.token.encode(), b"csrf", sha256).hexdigest()

    @property
    def owner(self) -> str:
        return f"session-{self.digest[:32]}"


class BrowserSessions:
    """Begins, finds and ends sessions. One ends after 30 days, on signing out, or with its key."""

    def __init__(
        self, store: SignInStore, config: WebConfig, *, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._config = config
        self._clock = clock

    async def begin(self, key: ApiKey, response: Response, *, origin: str = "") -> None:
        """Sign a browser in with this answer."""
        session = BrowserSession(token=secrets.token_urlsafe(32), key=key)
        await self._store.begin(
            SignIn(
                digest=session.digest,
                key_fingerprint=key.fingerprint,
                ends_at=self._clock() + LASTS,
            )
        )
        response.set_cookie(
            COOKIE,
            session.token,
            max_age=int(LASTS.total_seconds()),
            httponly=True,
            samesite="lax",
            secure=self._is_secure(key, origin),
        )

    async def find(self, headers: Mapping[str, str]) -> BrowserSession | None:
        """The session that a request's cookie stands for, while it lasts and its key is there."""
        token = session_cookie(headers)
        if not TOKEN.fullmatch(token):
            return None
        found = await self._store.find(sha256(token.encode()).hexdigest())
        if found is None or found.ends_at <= self._clock():
            return None
        for key in self._config.keys:
            if key.fingerprint == found.key_fingerprint:
                return BrowserSession(token=token, key=key)
        return None

    async def end(self, session: BrowserSession, response: Response) -> None:
        """Sign out: whoever kept a copy of the cookie is signed out with it."""
        await self._store.end(session.digest)
        response.delete_cookie(COOKIE)

    def _is_secure(self, key: ApiKey, origin: str) -> bool:
        """Whether the cookie goes over TLS alone: not where this page was opened without it."""
        is_public = (self._config.public_url or "").startswith("https://")
        return is_public and not key.is_local and not origin.startswith("http://")


def session_cookie(headers: Mapping[str, str]) -> str:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""
