"""footnote forget: beside a running bot, gone from the whole data folder."""

from __future__ import annotations

import json
from pathlib import Path

from rag_core.conversation.key import Platform
from rag_core.storage.engines.database import open_database
from rag_core.storage.markers import Markers
from tests.builders import a_key, a_question
from tests.contract.desk_work import DeskWork
from tests.flow.running_house import footnote, running_house

WORDS = "Where did Hedwig hide the silver spoons?"


async def asked(folder: Path) -> None:
    """One answered question of one person, from before the bot began."""
    async with open_database(f"sqlite:///{folder / 'data' / 'footnote.db'}") as database:
        desk = DeskWork(database)
        key = a_key(platform=Platform.SLACK)
        await desk.open(key)
        question_id = await desk.accept(a_question(WORDS, key=key, asker_id="U-HEDWIG"))
        await desk.claim()
        await desk.settle(question_id)
        await desk.ledger.close(question_id, delivered=True)
        await Markers(database).set("reader:slack:guild-1:U-HEDWIG", "{}")


def holds(folder: Path, word: str) -> bool:
    return any(word.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_a_person_is_forgotten_while_the_bot_runs(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    await asked(tmp_path)
    async with running_house(tmp_path):
        assert holds(tmp_path / "data", WORDS)
        printed, _ = await footnote(
            *("forget", "--platform", "slack", "--user", "U-HEDWIG", "--json"), folder=tmp_path
        )
        assert json.loads(printed) == {"platform": "slack", "questions": 1}
        assert not holds(tmp_path / "data", WORDS)
        assert not holds(tmp_path / "data", "U-HEDWIG")


async def test_nobody_named_is_wrong_usage(tmp_path: Path) -> None:
    await footnote("forget", "--platform", "slack", folder=tmp_path, expect=2)
