"""What a website's server says to whoever asks it, and the bounds of asking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rag_core.websites.address import WebAddress

AGENT = "Footnote"
"""The name under which it is asked."""


class Unreachable(Exception):
    """A server that gave no answer, or none that is of use now; its text says what happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """Bounds of one reading of a website."""

    pages: int = 5_000
    page_bytes: int = 10 * 1024 * 1024
    total_bytes: int = 1024 * 1024 * 1024
    sitemaps: int = 50
    sitemap_bytes: int = 50 * 1024 * 1024
    seconds: float = 3_600.0
    request_seconds: float = 30.0
    at_once: int = 4
    attempts: int = 3
    pause: float = 1.0
    """Before a second attempt, doubled for each further one; a server's own wish counts more."""
    longest_pause: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server sent: all of it, or nothing where it has not changed."""

    address: WebAddress
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()
