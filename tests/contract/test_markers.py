"""Small facts, kept by name."""

from __future__ import annotations

from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.markers import Markers


async def test_a_marker_is_what_was_set_last(database: Database) -> None:
    markers = Markers(database)
    assert await markers.get("slack:C1") is None
    await markers.set("slack:C1", "1700000000.000100")
    await markers.set("slack:C1", "1700000001.000100")
    await markers.set("slack:C2", "")
    assert await markers.get("slack:C1") == "1700000001.000100"
    assert await markers.get("slack:C2") == ""


async def test_a_marker_survives_closing(url: str) -> None:
    async with open_database(url) as database:
        await Markers(database).set("discord:session", "abc")
    async with open_database(url) as database:
        assert await Markers(database).get("discord:session") == "abc"
