"""Pages from their HTML files; whatever is put into them is escaped."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent / "html"


class Html(str):
    """HTML that may stand in a page as it is."""

    __slots__ = ()


NOTHING = Html("")


def fill(name: str, **values: str) -> Html:
    """A piece of a page, with its gaps filled."""
    safe = {
        gap: value if isinstance(value, Html) else escape(value) for gap, value in values.items()
    }
    return Html(template(name).substitute(safe))


def page(name: str, *, title: str, **values: str) -> Html:
    """A whole page."""
    return fill("frame", title=title, kind=name, body=fill(name, **values))


def joined(pieces: list[Html]) -> Html:
    return Html("".join(pieces))


@cache
def template(name: str) -> Template:
    return Template((FOLDER / f"{name}.html").read_text("utf-8"))
