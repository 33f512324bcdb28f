"""footnote stats: how many questions, how they ended, how long they took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.web.documents.insight import stats_document
from bot.commands.lists import own_database, table
from bot.output import print_json, terminal
from rag_core.insight.stats import waited
from rag_core.storage.stats import StatsRecords


async def stats(*, days: int, as_json: bool) -> int:
    async with own_database() as database:
        document = stats_document(await StatsRecords(database).last_days(days))
    if as_json:
        print_json(document)
        return 0
    seconds = document["seconds_to_answer"]
    rows = [short("all", document)]
    rows += [short(each["platform"], each) for each in document["platforms"]]
    terminal().print(table(rows))
    if seconds["p50"] is not None:
        terminal().print(
            f"Half of the answers took at most {waited(seconds['p50'])},"
            f" all but one in twenty at most {waited(seconds['p95'])}."
        )
    return 0


def short(name: str, tally: Mapping[str, Any]) -> dict[str, Any]:
    """One line of numbers."""
    rate = tally["helpful_rate"]
    shares = {kind.replace("_", " "): f"{share:.0%}" for kind, share in tally["shares"].items()}
    return {
        "platform": name,
        "questions": tally["questions"],
        **shares,
        "helpful": None if rate is None else f"{rate:.0%}",
    }
