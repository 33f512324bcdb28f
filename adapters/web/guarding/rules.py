"""What each address of the web door asks of a caller."""

from __future__ import annotations

from adapters.web.config import Scope

OPEN = frozenset({"/livez", "/readyz", "/slack/events", "/slack/install", "/slack/oauth_redirect"})
"""Answered to everybody: whoever watches the process has no key, Slack signs what it sends, and an
installation carries a state of its own."""

SIGNED = "/hooks/"
"""What is called here carries a signature in the place of a key."""

KEYLESS_PAGES = ("/static/", "/sign-in")
"""What a browser needs before it has shown its key. Still loopback only without API keys."""

SCOPES = {
    "": Scope.ASK,
    "chat": Scope.ASK,
    "threads": Scope.ASK,
    "feedback": Scope.ASK,
    "openapi.json": Scope.ASK,
    "page": Scope.ASK,
    "read": Scope.ASK,
    "sign-out": Scope.ASK,
    "search": Scope.READ,
    "lessons": Scope.READ,
    "books": Scope.READ,
    "jobs": Scope.ADMIN,
    "metrics": Scope.ADMIN,
    "gaps": Scope.ADMIN,
    "stats": Scope.ADMIN,
    "policies": Scope.ADMIN,
    "uploads": Scope.ADMIN,
    "staff-answers": Scope.ADMIN,
    "admin": Scope.ADMIN,
}
"""By the first step of the path. The reading page is where an asker's footnotes lead."""


PAGES = ("/read/", "/admin/")
"""Below these, and at `/` and `/admin`, a browser that has no key yet is asked for one."""


def is_page(path: str) -> bool:
    return path in {"/", "/admin"} or path.startswith(PAGES)


def is_streamed(path: str, method: str) -> bool:
    """Files are taken piece by piece, by a route that bounds them itself."""
    return method == "PUT" and path.startswith("/uploads/")


def scope_of(path: str) -> Scope:
    """An address that nobody knows is told so to everybody who may come in at all."""
    return SCOPES.get(path.lstrip("/").partition("/")[0], Scope.ASK)


def is_open(path: str) -> bool:
    """Whether callers are not looked at here: there is nothing to protect, or another guard."""
    return path in OPEN or path.startswith(SIGNED)


def needs_no_key(path: str) -> bool:
    return path.startswith(KEYLESS_PAGES)
