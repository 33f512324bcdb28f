"""What a browser shows of an installation: plain sentences."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from html import escape

STYLE = (
    "body{font:1.1rem/1.6 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem;"
    "color:#1d1c1d;background:#fff}a{color:#1264a3}"
    "@media (prefers-color-scheme:dark){body{color:#e8e8e8;background:#1a1d21}a{color:#5eb0ef}}"
)
STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": f"default-src 'none'; style-src 'sha256-{STYLE_HASH}';"
    " frame-ancestors 'none'; form-action 'none'; base-uri 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
AGAIN = "Begin again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One answer to a browser."""

    status: int
    title: str
    sentences: tuple[str, ...] = ()
    again: str = ""
    """Where to begin again, where that may help."""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def html(self) -> str:
        lines = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)
        link = f'<p><a href="{escape(self.again)}">{AGAIN}</a></p>' if self.again else ""
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>'
            f"{escape(self.title)}</title>"
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
            f"<body><h1>{escape(self.title)}</h1>{lines}{link}</body></html>"
        )


def installed_in(name: str) -> Page:
    return Page(
        status=200,
        title=f"Footnote is installed in {name}",
        sentences=(
            "Go back to Slack and write to Footnote under Apps, or invite it into a channel and"
            " mention it there.",
            "You can close this page.",
        ),
    )


def not_installed(status: int, *sentences: str, again: str = "") -> Page:
    return Page(status=status, title="Footnote was not installed", sentences=sentences, again=again)
