"""footnote search: the passages nearest to a text."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from bot.output import print_json, terminal
from bot.reach import reach
from bot.settings import read_settings
from rag_core.retrieval.whereabouts import whereabouts

SHOWN_TEXT = 160


async def search(query: dict[str, Any], *, as_json: bool) -> int:
    async with reach(read_settings()) as house:
        document = await house.post("/search", query)
    if as_json:
        print_json(document)
    else:
        show(document, terminal())
    return 0


def show(document: dict[str, Any], console: Console) -> None:
    if not document["results"]:
        console.print("Nothing was found.")
        return
    table = Table(show_lines=True)
    for heading in ("", "Where", "Passage", "Similarity"):
        table.add_column(heading, overflow="fold")
    for result in document["results"]:
        where = whereabouts(result["page_title"], result["section_heading"])
        place = result["page_url"] or result["source_file"]
        text = " ".join(result["text"].split())
        table.add_row(
            str(result["rank"]),
            f"{where}\n{place}",
            text[:SHOWN_TEXT] + ("…" if len(text) > SHOWN_TEXT else ""),
            f"{result['similarity_score']:.2f}",
        )
    console.print(table, markup=False)
