"""The web door's settings: where it listens, which keys open it, and its limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from rag_core.books.book import BOOK_ID, BOOK_ID_RULE
from rag_core.errors import ConfigurationError

VARIABLE = "FOOTNOTE_API_KEYS"
KEY = re.compile(r"[!-+\--9;-~]+")
"""Printable ASCII without the space and the comma and colon that separate keys and their parts."""


SHORT_KEY = 16
"""Characters; what is shorter may be guessed by whoever reaches the door."""


class Scope(IntEnum):
    """What a caller may do; each holds what the ones before it hold."""

    ASK = 1
    READ = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key that opens the web door, how far, and to which books."""

    secret: str = field(repr=False)
    scope: Scope = Scope.ASK
    books: tuple[str, ...] = ()
    """Empty: the default book; for an admin key the whole house."""
    is_local: bool = False
    """Whether it is the key of the data folder, for whoever uses this computer."""

    @property
    def fingerprint(self) -> str:
        """Names the key where the key itself must not stand."""
        return sha256(b"footnote key:" + self.secret.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebConfig:
    """Everything about the web door that an operator can set."""

    host: str = "127.0.0.1"
    port: int = 8080
    public_url: str | None = None
    api_keys: tuple[ApiKey, ...] = field(default=(), repr=False)
    local_key: ApiKey | None = field(default=None, repr=False)
    """Opens the web door to this computer where there are no API keys."""
    open_loopback: bool = False
    """Serve this computer without a key; for development."""
    wrong_key_seconds: float = 2.0
    """How long an answer to a wrong key is held back once there were many."""
    hook_secret: str | None = field(default=None, repr=False)
    """What calls of `/hooks` are signed with; None: there are no hooks."""
    job_folders: tuple[Path, ...] = ()
    """`POST /jobs` reads files only below these."""
    uploads: Path | None = None
    """Where files that are dropped on the dashboard are kept; None: nowhere, and none are taken."""
    upload_seconds: float = 300.0
    max_body: int = 256 * 1024
    body_seconds: float = 20.0
    wait_seconds: float = 780.0
    """How long a request waits for its answer: longer than the queue and the answer together."""
    poll_seconds: float = 1.0
    """How often the database is asked for an answer that another process may have given."""
    requests_per_minute: int = 100
    max_requests: int = 1_000
    """How many requests may be in work at once; probes and Slack's events have their own share."""

    @property
    def keys(self) -> tuple[ApiKey, ...]:
        """Every key that opens the web door."""
        return self.api_keys or ((self.local_key,) if self.local_key else ())

    @property
    def is_local_only(self) -> bool:
        """Without API keys nobody but this computer is served."""
        return not self.api_keys

    def key_of(self, shown: str) -> ApiKey | None:
        """The key that was shown; how long it takes says nothing of how much of it is right."""
        given = shown.encode()
        fitting = [key for key in self.keys if compare_digest(key.secret.encode(), given)]
        return fitting[0] if fitting else None


def local_api_key(secret: str) -> ApiKey:
    return ApiKey(secret=secret, scope=Scope.ADMIN, is_local=True)


def parse_api_keys(text: str) -> tuple[ApiKey, ...]:
    """The keys of `KEY[:SCOPE[:BOOK|BOOK…]]`, comma-separated; all faults are named at once."""
    keys: list[ApiKey] = []
    faults: list[str] = []
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    for number, entry in enumerate(entries, start=1):
        try:
            keys.append(parse_api_key(entry))
        except ConfigurationError as fault:
            faults.append(f"{VARIABLE}: key {number}: {fault}")
    if len({key.secret for key in keys}) < len(keys):
        faults.append(f"{VARIABLE}: the same key stands there twice; each key may stand once.")
    if faults:
        raise ConfigurationError("\n".join(faults))
    return tuple(keys)


def short_keys(keys: Sequence[ApiKey]) -> tuple[int, ...]:
    """Which of the keys could be guessed, by their place in the setting."""
    return tuple(number for number, key in enumerate(keys, start=1) if len(key.secret) < SHORT_KEY)


def parse_api_key(entry: str) -> ApiKey:
    """One key; the sentence of a fault never shows the key itself."""
    secret, scope, books, *rest = [*entry.split(":"), "", ""][: max(3, entry.count(":") + 1)]
    if rest:
        raise ConfigurationError("has too many parts; allowed is KEY[:SCOPE[:BOOK|BOOK…]].")
    if not KEY.fullmatch(secret):
        raise ConfigurationError(
            "must be one or more visible ASCII characters without commas and colons."
        )
    return ApiKey(secret=secret, scope=parse_scope(scope), books=parse_books(books))


def parse_scope(name: str) -> Scope:
    scopes = {scope.name.lower(): scope for scope in Scope}
    if name and name not in scopes:
        raise ConfigurationError(f"has the scope {name!r}; allowed are {', '.join(scopes)}.")
    return scopes[name or "ask"]


def parse_books(names: str) -> tuple[str, ...]:
    books = tuple(name for name in names.split("|") if name)
    for name in books:
        if not BOOK_ID.fullmatch(name):
            raise ConfigurationError(f"names the book {name!r}; allowed is {BOOK_ID_RULE}.")
    return books
