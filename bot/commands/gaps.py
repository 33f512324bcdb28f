"""footnote gaps: what was asked and not answered."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

from bot.commands.lists import table
from bot.output import print_json, terminal
from bot.reach import reach
from bot.settings import read_settings
from rag_core.retrieval.whereabouts import whereabouts


class GapsAs(StrEnum):
    """In which form the gaps are printed."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"
    CSV = "csv"


async def gaps(*, state: str | None, shown_as: GapsAs) -> int:
    wanted = f"?{urlencode({'state': state})}" if state else ""
    async with reach(read_settings()) as house:
        if shown_as in {GapsAs.MARKDOWN, GapsAs.CSV}:
            sys.stdout.write(await house.text(f"/gaps/{shown_as}{wanted}"))
            return 0
        document = await house.get(f"/gaps{wanted}")
    if shown_as is GapsAs.JSON:
        print_json(document)
    else:
        rows = [short(gap) for gap in document["gaps"]]
        terminal().print(table(rows) if rows else "Nothing was asked in vain.")
    return 0


def short(gap: dict[str, Any]) -> dict[str, Any]:
    """A gap on one line."""
    near = gap["nearest"] or {}
    return {
        "asked": gap["count"],
        "state": gap["state"],
        "for example": gap["example"],
        "nearest section": whereabouts(near.get("page_title"), near.get("section_heading")) or None,
        "last asked": gap["last_asked_at"][:10],
    }
