"""footnote sources: where the books are read from, how often, and how the last time went."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from adapters.web.routes.shelves import source_document
from bot.commands.lists import minute, own_database
from bot.output import print_json, terminal
from bot.reach import House, reach
from bot.settings import read_settings
from rag_core.errors import InvalidQuestion
from rag_core.storage.sources import Sources


async def list_sources(*, as_json: bool) -> int:
    documents = await stored()
    if as_json:
        print_json({"sources": documents})
        return 0
    for source in documents:
        terminal().print(told(source), soft_wrap=True)
    if not documents:
        terminal().print("No sources yet: footnote sources add names one.")
    return 0


def told(source: dict[str, Any]) -> str:
    """A source with its times, in two lines."""
    every = source["every_seconds"]
    when = f"every {span(every)}" if every else "on a signal"
    read = f"read {minute(source['last_success'])}" if source["last_success"] else "not read yet"
    due = f", next {minute(source['next_at'])}" if every and source["next_at"] else ""
    lines = [f"{source['book_id']}: {source['location']}, {when}; {read}{due}"]
    if source["last_error"]:
        lines.append(f"  failed {minute(source['last_failure'])}: {source['last_error']}")
    return "\n".join([*lines, f"  {source['source_id']}"])


def span(seconds: int) -> str:
    """The largest unit that it is a whole number of."""
    for unit, size in (("d", 86_400), ("h", 3_600)):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds // 60}m"


async def stored() -> list[dict[str, Any]]:
    async with own_database() as database:
        return [source_document(source) for source in await Sources(database).all()]


async def add_sources(wanted: list[dict[str, str]], *, as_json: bool) -> int:
    async with reach(read_settings()) as house:
        added = [await house.post("/shelves/sources", each) for each in wanted]
    if as_json:
        print_json({"sources": added})
    else:
        for source in added:
            terminal().print(
                f"{source['book_id']} is read from {source['location']}"
                f" ({source['source_id']}); the bot reads it at once, or when it starts.",
                soft_wrap=True,
            )
    return 0


async def remove_source(named: str, *, as_json: bool) -> int:
    """By its id, or by its location where only one book has it."""
    source_id = await identified(named)
    async with reach(read_settings()) as house:
        removed = await gone(house, source_id)
    if as_json:
        print_json(removed)
    else:
        terminal().print(
            f"{removed['location']} is read no more; what was read stays in {removed['book_id']}.",
            soft_wrap=True,
        )
    return 0


async def gone(house: House, source_id: str) -> dict[str, Any]:
    document: dict[str, Any] = await house.delete(f"/shelves/sources/{source_id}")
    return document


async def identified(named: str) -> str:
    try:
        return str(UUID(named))
    except ValueError:
        fitting = [row for row in await stored() if row["location"] == named]
    if len(fitting) != 1:
        count = "No" if not fitting else str(len(fitting))
        raise InvalidQuestion(
            "source_id", f"{count} sources have the location {named}; name one by its id."
        )
    return str(fitting[0]["source_id"])
