"""The frame of the dashboard's pages, and the small pieces that they are made of."""

from __future__ import annotations

from collections.abc import Iterable

from adapters.web.guarding.caller import Caller
from adapters.web.pages.templates import NOTHING, Html, fill, joined, page
from rag_core.insight.stats import waited

PLACES = {
    "/admin": "Numbers",
    "/admin/gaps": "Gaps",
    "/admin/books": "Books",
    "/admin/channels": "Channels",
    "/admin/answers": "Answers",
    "/admin/staff": "Staff answers",
}
CURRENT = Html(' aria-current="page"')
SELECTED = Html(" selected")
DASH = "–"


def admin_page(
    at: str, content: Html, caller: Caller, *, heading: str = "", charts: bool = False
) -> Html:
    """One page of the dashboard."""
    title = heading or PLACES[at]
    return page(
        "admin",
        title=f"{title} · Footnote",
        csrf=caller.csrf_token,
        heading=title,
        places=joined([place(address, at) for address in PLACES]),
        content=content,
        styles=fill("admin-chart-style") if charts else NOTHING,
        scripts=fill("admin-chart-script") if charts else NOTHING,
    )


def place(address: str, at: str) -> Html:
    current = CURRENT if address == at else NOTHING
    return fill("admin-place", address=address, words=PLACES[address], current=current)


def row(head: str, *cells: str, last: Html = NOTHING) -> Html:
    """A row of a table; its first cell names it, the last one may hold what is done with it."""
    rest = [fill("admin-cell", words=cell) for cell in cells]
    return fill("admin-row", cells=joined([fill("admin-head-cell", words=head), *rest, last]))


def rows(made: list[Html], *, columns: int, otherwise: str) -> Html:
    """The rows of a table; one that says so where there are none."""
    return joined(made) or fill("admin-empty-row", columns=str(columns), words=otherwise)


def options(values: Iterable[tuple[str, str]], chosen: str) -> Html:
    return joined(
        [
            fill(
                "admin-option",
                value=value,
                words=words,
                selected=SELECTED if value == chosen else NOTHING,
            )
            for value, words in values
        ]
    )


def items(lines: Iterable[str]) -> Html:
    return joined([fill("near", words=line) for line in lines])


def no_items(words: str) -> Html:
    """What a list says that has nothing to list."""
    return fill("admin-empty-item", words=words)


def none(words: str) -> Html:
    return fill("admin-none", words=words)


def percent(share: float | None) -> str:
    return DASH if share is None else f"{share:.0%}"


def seconds(value: float | None) -> str:
    return DASH if value is None else waited(value)
