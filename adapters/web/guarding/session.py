"""A browser's session: a signed cookie that stands for a key without holding it."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from hashlib import sha256

from adapters.web.config import ApiKey

COOKIE = "footnote_session"
MAX_AGE = 30 * 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSession:
    """One browser that showed a key once. It ends when the key is taken out of the settings."""

    id: str
    key: ApiKey = field(repr=False)

    @classmethod
    def begin(cls, key: ApiKey) -> BrowserSession:
        return cls(id=secrets.token_hex(16), key=key)

    @property
    def cookie(self) -> str:
        return f"{self.key.fingerprint}.{self.id}.{self._sign('session')}"

    @property
    def csrf_token(self) -> str:
        return self._sign("csrf")

    @property
    def owner(self) -> str:
        return "session-" + sha256(self.id.encode()).hexdigest()[:32]

    def _sign(self, purpose: str) -> str:
        text = f"{purpose}:{self.id}".encode()
        return hmac.new(self.key.secret.encode(), text, sha256).hexdigest()


def session_of(cookie: str, keys: tuple[ApiKey, ...]) -> BrowserSession | None:
    """The session that a cookie stands for, if one of these keys signed it."""
    fingerprint, _, rest = cookie.partition(".")
    session_id = rest.partition(".")[0]
    for key in keys:
        if hmac.compare_digest(key.fingerprint, fingerprint):
            session = BrowserSession(id=session_id, key=key)
            if hmac.compare_digest(session.cookie.encode(), cookie.encode()):
                return session
    return None
