"""footnote books bind · unbind · remove: done by the house, the running one where there is one."""

from __future__ import annotations

from typing import Any

from bot.output import print_json, terminal
from bot.reach import reach
from bot.settings import read_settings

WHEREVER = "wherever it is"


async def bind(
    platform: str, channel: str, books: list[str], *, tenant: str | None, as_json: bool
) -> int:
    wanted = {"platform": platform, "channel_id": channel, "book_ids": books, "tenant": tenant}
    async with reach(read_settings()) as house:
        document = await house.post("/shelves/bindings", wanted)
    if as_json:
        print_json(document)
    else:
        for binding in document["bindings"]:
            terminal().print(said(binding))
    return 0


def said(binding: dict[str, Any]) -> str:
    where = binding["channel_id"] or "every channel"
    place = f"{binding['platform']} {where} ({binding['tenant'] or WHEREVER})"
    return f"{place} reads {', '.join(binding['book_ids']) or 'the default book'}."


async def remove(book_id: str, *, as_json: bool) -> int:
    async with reach(read_settings()) as house:
        document = await house.delete(f"/shelves/books/{book_id}")
    if as_json:
        print_json(document)
    else:
        terminal().print(
            f"{book_id} is gone, with {document['files']} files and {document['chunks']} passages."
        )
    return 0
