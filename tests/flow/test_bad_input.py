"""Whatever is wrong: one clear sentence, the right exit code, no stack, nothing lost."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flow.running_house import footnote

FAILED, WRONG = 1, 2


async def complaint(
    folder: Path, *arguments: str, expect: int, settings: dict[str, str] | None = None
) -> str:
    printed, said = await footnote(*arguments, folder=folder, expect=expect, settings=settings)
    assert printed == ""
    assert "Traceback" not in said
    assert "should not have happened" not in said
    return said


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one book in it."""
    folder = tmp_path_factory.mktemp("shelf")
    (folder / "limits.md").write_text("# Limits\n\nTen requests a day are allowed.\n")
    asyncio.run(footnote("ingest", "limits.md", "--book", "course", folder=folder))
    return folder


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("frob", "No such command 'frob'"),
        ("ingest --book course", "Missing argument"),
        ("ingest . --book No_Book", "book_id 'No_Book' is not a book id"),
        ("ask How? --session abc", "must be a UUID; it was 'abc'"),
        ("books --frob", "No such option"),
        ("books bind slak C1 course", "must be discord, slack, web or cli; it was 'slak'"),
        ("search limits --limit many", "must be a whole number; it was 'many'"),
        ("search limits --threshold high", "must be a number; it was 'high'"),
        ("search limits --threshold nan", "must be a number; it was 'nan'"),
        ("search limits --threshold inf", "must be a number; it was 'inf'"),
        ("search caf\udce9", "is not text in UTF-8"),
        ("stats --days 367", "must be between 1 and 366; it was 367"),
    ],
)
async def test_wrong_usage(tmp_path: Path, arguments: str, words: str) -> None:
    assert words in await complaint(tmp_path, *arguments.split(), expect=WRONG)


async def test_questions_and_searches_outside_their_bounds(shelf: Path) -> None:
    for arguments, words in (
        (["search", "ab"], "at least 3 characters"),
        (["search", "limits", "--limit", "0"], "limit"),
        (["search", "limits", "--chapter-min", "21"], "chapter_min"),
        (["ask", " "], "message"),
    ):
        assert words in await complaint(shelf, *arguments, expect=WRONG)


async def test_wrong_settings_are_all_named_before_anything_starts(tmp_path: Path) -> None:
    said = await complaint(
        tmp_path,
        "run",
        expect=WRONG,
        settings={
            "FOOTNOTE_WEB_PORT": "many",
            "AGENT_TOP_K": "99",
            "FOOTNOTE_API_KEYS": "seeded key:boss",
        },
    )
    assert "FOOTNOTE_WEB_PORT is 'many'; allowed: a whole number" in said
    assert "AGENT_TOP_K is '99'; allowed: a whole number from 1 to 10" in said
    assert "FOOTNOTE_API_KEYS: key 1" in said
    assert "seeded" not in said
    assert not (tmp_path / "data").exists()


async def test_wrong_api_keys_are_a_wrong_setting(tmp_path: Path) -> None:
    said = await complaint(
        tmp_path, "run", expect=WRONG, settings={"FOOTNOTE_API_KEYS": "seeded-key:boss"}
    )
    assert "FOOTNOTE_API_KEYS" in said
    assert "ask, read, admin" in said
    assert "seeded" not in said


async def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    said = await complaint(tmp_path, "ingest", "nowhere", "--book", "course", expect=FAILED)
    assert "nowhere: there is no such file or folder" in said


async def test_an_index_that_does_not_answer(tmp_path: Path) -> None:
    nobody = {"QDRANT_URL": "http://127.0.0.1:9"}
    said = await complaint(tmp_path, "search", "limits", expect=FAILED, settings=nobody)
    assert "qdrant: no answer. `footnote doctor` says what to check." in said


async def test_a_data_folder_that_is_a_file_is_a_wrong_setting(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder", encoding="utf-8")
    for command in (["run"], ["books"], ["ask", "How many?"]):
        said = await complaint(tmp_path, *command, expect=WRONG)
        assert "FOOTNOTE_DATA_DIR" in said
    assert (tmp_path / "data").read_text(encoding="utf-8") == "not a folder"


async def test_a_data_folder_without_space_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "door.json.new").symlink_to("/dev/full")
    said = await complaint(tmp_path, "run", expect=FAILED)
    assert f"no space left for the data folder {tmp_path / 'data'}" in said


async def test_a_damaged_database_is_left_as_it_is(tmp_path: Path) -> None:
    database = tmp_path / "data" / "footnote.db"
    database.parent.mkdir()
    database.write_bytes(b"\x17" * 50_000)
    for command in (["run"], ["books"]):
        assert "damaged" in await complaint(tmp_path, *command, expect=FAILED)
    assert database.read_bytes() == b"\x17" * 50_000


async def test_a_database_of_a_newer_program_is_refused_and_kept(tmp_path: Path) -> None:
    await footnote("books", folder=tmp_path)
    database = tmp_path / "data" / "footnote.db"
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    said = await complaint(tmp_path, "run", expect=FAILED)
    assert "newer" in said
    with sqlite3.connect(database) as connection:
        (version,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    connection.close()
    assert version == "9999"


async def test_a_port_that_is_taken_names_the_setting(tmp_path: Path, taken_port: int) -> None:
    said = await complaint(
        tmp_path, "run", expect=WRONG, settings={"FOOTNOTE_WEB_PORT": str(taken_port)}
    )
    assert f"FOOTNOTE_WEB_PORT is {taken_port}" in said


async def test_a_host_that_is_not_this_machines_is_named(tmp_path: Path) -> None:
    settings = {"FOOTNOTE_WEB_HOST": "203.0.113.9"}
    said = await complaint(tmp_path, "run", expect=WRONG, settings=settings)
    assert "FOOTNOTE_WEB_HOST is '203.0.113.9'" in said


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]
