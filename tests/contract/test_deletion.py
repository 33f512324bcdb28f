"""What was deleted is not on the disk any more, in no table, no free page and no log."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from rag_core.errors import StorageError
from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.feedback import Feedback
from tests.builders import a_citation, a_key, a_question, a_response, a_turn
from tests.contract.desk_work import DeskWork

THREADS = 40


async def fill(database: Database) -> dict[str, list[str]]:
    """Threads whose every text carries a mark; the marks and session ids, by thread."""
    chance = random.Random(7)
    desk, feedback = DeskWork(database), Feedback(database)
    marks: dict[str, list[str]] = {}
    for number in range(THREADS * 4):
        name = f"thread-{number % THREADS}"
        mark, key = f"MARK{number:05d}KRAM", a_key(name)
        state = await desk.open(key, max_turns=3)
        marks.setdefault(name, []).extend([mark, str(state.session_id)])
        text = mark + " word" * chance.randrange(150)
        response = a_response(
            f"{text} [1].", query=text, citations=(a_citation(quote=text, chunk_id=mark),)
        )
        question_id = await desk.accept(a_question(text, key=key, address={"ts": mark}))
        await desk.claim()
        turn = replace(a_turn(state.session_id, text, text), metadata={mark: text})
        await desk.settle(
            question_id, turn=turn, response=response, parts=(text * chance.randrange(1, 20),)
        )
        await desk.ledger.close(question_id, delivered=True)
        await feedback.rate(answer_id=response.answer_id, asker_id=mark, helpful=False, reason=text)
    return marks


def on_disk(folder: Path, wanted: str) -> list[str]:
    return [file.name for file in folder.iterdir() if wanted.encode() in file.read_bytes()]


async def test_nothing_of_a_deleted_thread_is_left_in_the_data_folder(tmp_path: Path) -> None:
    async with open_database(f"sqlite+aiosqlite:///{tmp_path}/footnote.db") as database:
        marks = await fill(database)
        conversations = DeskWork(database).conversations
        gone = sorted(marks)[::2]
        assert all(on_disk(tmp_path, mark) for mark in marks[gone[0]])
        for name in gone:
            await conversations.delete(a_key(name))
            left = {mark: on_disk(tmp_path, mark) for mark in marks[name]}
            assert not {mark: files for mark, files in left.items() if files}
        for name in marks.keys() - set(gone):
            assert all(on_disk(tmp_path, mark) for mark in marks[name]), "the others are there"


async def test_a_deletion_that_another_program_holds_up_says_so_and_can_be_repeated(
    tmp_path: Path,
) -> None:
    path = tmp_path / "footnote.db"
    async with open_database(f"sqlite+aiosqlite:///{path}?timeout=0.5") as database:
        marks = await fill(database)
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM turns").fetchone()
        conversations = DeskWork(database).conversations
        with pytest.raises(StorageError, match="another program reads"):
            await conversations.delete(a_key("thread-0"))
        reader.execute("COMMIT")
        reader.close()
        await conversations.delete(a_key("thread-0"))
        assert not any(on_disk(tmp_path, mark) for mark in marks["thread-0"])
