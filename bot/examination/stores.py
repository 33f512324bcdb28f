"""Database and index, asked by the addresses in the settings: whether or not the house is open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from adapters.steward import Finding
from bot.examination.look import Check, in_place, missing
from bot.examination.machine import MEGABYTE, size_of
from bot.providers import INDEX_FOLDER, secret
from bot.settings import Settings

START_DATABASE = "Start the database, or correct DATABASE_URL."
START_QDRANT = "Start Qdrant, or correct QDRANT_URL and QDRANT_API_KEY."
RESTORE = "stop the bot, move the data folder away and run `footnote restore FILE`"
MEND_DATABASE = f"If it is damaged: {RESTORE}."
MEND_INDEX = (
    f"If it is damaged: {RESTORE}; or stop the bot, move the index's folder away and read the books"
    " again with `footnote ingest`."
)


def of_stores(settings: Settings, folder: Path) -> Sequence[Check]:
    async def database() -> Sequence[Finding]:
        return [await database_finding(settings.database)]

    async def index() -> Sequence[Finding]:
        if settings.qdrant_url is None:
            return [await asyncio.to_thread(embedded_index, folder / INDEX_FOLDER)]
        return [await server_index(settings.qdrant_url, settings)]

    is_file = settings.database.startswith("sqlite")
    is_embedded = settings.qdrant_url is None
    return [
        Check(name="database", look=database, advice=MEND_DATABASE if is_file else START_DATABASE),
        Check(name="index", look=index, advice=MEND_INDEX if is_embedded else START_QDRANT),
    ]


async def database_finding(url: str) -> Finding:
    from rag_core.storage.engines.examination import examined

    facts = await examined(url)
    size = f"{facts.size / MEGABYTE:.1f} MB" if facts.size else "made at the first start"
    detail = f"{facts.engine} {facts.version} answers; {size}"
    if facts.trouble:
        advice = "Find out who holds it: another program, a backup, a long statement by hand."
        return missing("database", f"{detail}; {facts.trouble}.", advice)
    return in_place("database", f"{detail}; nobody holds it up.")


def embedded_index(folder: Path) -> Finding:
    from rag_core.providers.edge.index_state import STATE_FILE, read_state

    state = read_state(folder / STATE_FILE)
    if state is None:
        return in_place("index", "embedded; made at the first start.")
    files = [file.stat().st_mtime for file in folder.rglob("*") if file.is_file()]
    changed = datetime.fromtimestamp(max(files), UTC)
    size = size_of(folder) / MEGABYTE
    return in_place(
        "index",
        f"embedded, {size:.1f} MB, last changed {changed:%Y-%m-%d %H:%M} UTC,"
        f" built with {state['model']} ({state['dimension']} dimensions).",
    )


async def server_index(url: str, settings: Settings) -> Finding:
    from rag_core.providers.server.examination import examined

    collection = settings.qdrant_collection_name
    facts = await examined(url, api_key=secret(settings.qdrant_api_key), collection=collection)
    where = f"Qdrant {facts.version} answers"
    if not facts.status:
        return in_place("index", f"{where}; {collection} is made at the first start.")
    detail = (
        f"{where}; {collection} is {facts.status}, {facts.points} passages,"
        f" built with {facts.model} ({facts.dimension} dimensions)."
    )
    if facts.is_healthy:
        return in_place("index", detail)
    return missing("index", detail, "Look into Qdrant's log: the collection does not work.")
