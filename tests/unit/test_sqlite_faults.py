"""What can go wrong with a database file: one clear sentence each, and nothing lost."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from rag_core.conversation.key import ConversationKey
from rag_core.conversation.state import ConversationState
from rag_core.errors import ConfigurationError, StorageError, StorageFull
from rag_core.storage.conversations.conversations import Conversations
from rag_core.storage.engines.database import open_database
from rag_core.storage.engines.sqlite_errors import explained
from rag_core.storage.markers import Markers
from tests.builders import a_key

PAGE = 4096
NOBODY = 65534


def address(path: Path, options: str = "") -> str:
    return f"sqlite+aiosqlite:///{path}{options}"


async def fails_to_open(path: Path) -> str:
    """The sentence that opening this file ends with."""
    with pytest.raises(StorageError) as refused:
        async with open_database(address(path)) as database:
            await Markers(database).set("a", "b")
    sentence = str(refused.value)
    assert re.fullmatch(r"[A-Z].*\.", sentence)
    assert str(path) in sentence
    return sentence


@pytest.fixture
def folder_of_another() -> Iterator[Path]:
    """A folder that may be read and not written, also when root runs the tests."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield folder
        os.seteuid(os.getuid())
        folder.chmod(0o700)


def closed(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    if os.geteuid() == 0:
        os.seteuid(NOBODY)


async def test_a_full_disk_is_said_and_nothing_is_lost_and_it_works_again_with_space(
    tmp_path: Path,
) -> None:
    url = address(tmp_path / "footnote.db", "?max_page_count=120")
    async with open_database(url) as database:
        conversations = Conversations(database)
        opened: list[ConversationState] = []

        async def open_many() -> None:
            for _ in range(1000):
                opened.append(await conversations.open(wide(len(opened)), model="m", max_turns=1))

        with pytest.raises(StorageFull, match="no space left"):
            await open_many()
        assert len(opened) > 10
        attempts = [conversations.open(wide(2000 + n), model="m", max_turns=1) for n in range(50)]
        refused = await asyncio.gather(*attempts, return_exceptions=True)
        assert any(isinstance(each, StorageFull) for each in refused)
        for state in opened:
            assert await conversations.find(state.session_id) == state
            await conversations.delete(state.key)
        await open_many_more(conversations)
    assert check(tmp_path / "footnote.db") == ["ok"]


@pytest.mark.parametrize(("free", "said"), [(0, "no space left"), (2**30, "The disk failed")])
def test_a_failing_write_on_a_full_disk_is_told_as_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, said: str
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    failed = sqlite3.OperationalError("disk I/O error")
    failed.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    sentence = str(explained(failed, tmp_path / "footnote.db"))
    assert said in sentence
    assert str(tmp_path) in sentence


def wide(number: int) -> ConversationKey:
    """A thread that takes a good part of a page."""
    return a_key(f"{number}-" + "x" * 1500)


async def open_many_more(conversations: Conversations) -> None:
    for number in range(10):
        state = await conversations.open(wide(3000 + number), model="m", max_turns=1)
        assert await conversations.find(state.session_id) == state


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "footnote.db"
    path.write_bytes(b"Dear diary, " * 1000)
    assert "not a database" in await fails_to_open(path)
    assert path.read_bytes() == b"Dear diary, " * 1000


async def test_a_damaged_page_is_said_where_it_is_met(tmp_path: Path) -> None:
    path = tmp_path / "footnote.db"
    async with open_database(address(path)):
        pass
    empty = path.stat().st_size
    async with open_database(address(path)) as database:
        for number in range(200):
            await Markers(database).set(f"fact-{number}", "x" * 500)
    content = bytearray(path.read_bytes())
    for start in range(empty, len(content) - PAGE, PAGE):
        content[start : start + 200] = b"\xa5" * 200
    path.write_bytes(content)
    async with open_database(address(path)) as database:
        markers = Markers(database)
        calls = [markers.get(f"fact-{n}") for n in range(200)]
        calls += [markers.set(f"fact-{n}", "y") for n in range(200)]
        ends = await asyncio.gather(*calls, return_exceptions=True)
    errors = [end for end in ends if isinstance(end, BaseException)]
    assert errors
    assert all(isinstance(error, StorageError) and "damaged" in str(error) for error in errors)


async def test_a_folder_in_place_of_the_file_is_said(tmp_path: Path) -> None:
    await fails_to_open(tmp_path)


async def test_a_file_in_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    await fails_to_open(tmp_path / "data" / "footnote.db")


async def test_a_folder_that_cannot_be_written_is_said(folder_of_another: Path) -> None:
    closed(folder_of_another, 0o555)
    await fails_to_open(folder_of_another / "footnote.db")


async def test_a_folder_that_cannot_be_read_is_said(folder_of_another: Path) -> None:
    closed(folder_of_another, 0o000)
    await fails_to_open(folder_of_another / "footnote.db")


async def test_a_database_that_may_only_be_read_is_said(folder_of_another: Path) -> None:
    path = folder_of_another / "footnote.db"
    async with open_database(address(path)):
        pass
    path.chmod(0o444)
    closed(folder_of_another, 0o555)
    assert "right to write" in await fails_to_open(path)


async def test_what_another_program_holds_is_said_when_patience_ends(
    tmp_path: Path,
) -> None:
    path = tmp_path / "footnote.db"
    async with open_database(address(path, "?timeout=0.1")) as database:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="Another program holds"):
            await Markers(database).set("a", "b")
        other.execute("ROLLBACK")
        other.close()
        await Markers(database).set("a", "b")


async def test_a_new_file_that_another_process_is_writing_to_is_waited_for(tmp_path: Path) -> None:
    """As where a command and the bot begin in a new folder at once: SQLite itself does not wait."""
    path = tmp_path / "footnote.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    asyncio.get_running_loop().call_later(0.3, other.execute, "ROLLBACK")
    async with open_database(address(path)) as database:
        assert not other.in_transaction
        await Markers(database).set("a", "b")
    other.close()


async def test_only_the_owner_may_read_the_files(tmp_path: Path) -> None:
    path = tmp_path / "data" / "footnote.db"
    async with open_database(address(path)) as database:
        await Markers(database).set("a", "b")
        for file in path.parent.iterdir():
            assert file.stat().st_mode & 0o077 == 0, file.name


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "mysql://host/name",
        "data.db",
        "sqlite:///a.db?timeout=long",
    ],
)
async def test_an_address_that_names_no_database_is_a_wrong_setting(url: str) -> None:
    with pytest.raises(ConfigurationError, match="DATABASE_URL"):
        async with open_database(url):
            pass


def check(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return [row[0] for row in connection.execute("PRAGMA integrity_check")]
    finally:
        connection.close()
