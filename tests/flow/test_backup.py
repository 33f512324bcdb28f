"""A backup made while the bot runs brings the whole house back on an empty host."""

from __future__ import annotations

import json
from pathlib import Path

from tests.flow.running_house import footnote, running_house

FAILED, WRONG = 1, 2


async def with_a_book(folder: Path) -> None:
    (folder / "limits.md").write_text("# Limits\n\nTen requests a day are allowed.\n")
    await footnote("ingest", "limits.md", "--book", "course", folder=folder)


async def a_backup(folder: Path) -> Path:
    await with_a_book(folder)
    await footnote("backup", "house.footnote", folder=folder)
    return folder / "house.footnote"


async def test_a_conversation_goes_on_where_the_backup_left_it(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    await with_a_book(old)
    async with running_house(old) as house:
        before = await house.ask(message="How many requests a day are allowed?")
        printed, _ = await footnote("backup", str(tmp_path / "house"), "--json", folder=old)
        await house.kill()
    assert json.loads(printed)["has_index"]

    await footnote("restore", str(tmp_path / "house"), folder=new)

    async with running_house(new) as house:
        thread = (await house.web.get(f"/threads/{before['session_id']}")).json()
        after = await house.ask(message="How many requests a day?", session_id=thread["session_id"])
    assert [m["content"] for m in thread["messages"] if m["role"] == "user"] == [before["query"]]
    assert after["session_id"] == before["session_id"]
    assert after["citations"][0]["chunk_id"] == before["citations"][0]["chunk_id"]


async def test_nothing_is_ever_overwritten(tmp_path: Path) -> None:
    file = await a_backup(tmp_path)

    _, said = await footnote("backup", str(file), folder=tmp_path, expect=WRONG)
    assert "there already" in said
    _, said = await footnote("restore", str(file), folder=tmp_path, expect=WRONG)
    assert "there already" in said


async def test_a_file_that_cannot_be_looked_for_is_told_in_one_sentence(tmp_path: Path) -> None:
    _, said = await footnote("backup", "n" * 300, folder=tmp_path, expect=WRONG)
    assert f"{tmp_path} cannot be written (File name too long)." in said


async def test_a_restore_after_a_first_command_says_what_to_move_away(tmp_path: Path) -> None:
    file = await a_backup(tmp_path)
    new = tmp_path / "new"
    new.mkdir()
    await footnote("doctor", folder=new, expect=FAILED)
    _, said = await footnote("restore", str(file), folder=new, expect=WRONG)
    assert f"move what is in {new / 'data'} away" in said

    (new / "data").rename(new / "away")
    await footnote("restore", str(file), folder=new)


async def test_a_backup_and_what_is_made_of_it_are_the_owners_alone(tmp_path: Path) -> None:
    file = await a_backup(tmp_path)
    new = tmp_path / "new"
    new.mkdir()
    await footnote("restore", str(file), folder=new)
    for private in (file, new / "data" / "footnote.db"):
        assert private.stat().st_mode & 0o077 == 0, private


async def test_a_restored_index_takes_no_more_of_the_disk_than_the_one_before(
    tmp_path: Path,
) -> None:
    file = await a_backup(tmp_path)
    new = tmp_path / "new"
    new.mkdir()
    await footnote("restore", str(file), folder=new)

    before, after = (files_below(folder / "data" / "index") for folder in (tmp_path, new))
    assert {name: size for name, (size, _) in before.items()} == {
        name: size for name, (size, _) in after.items()
    }
    # What the index reserves without having written it stays a hole.
    assert sum(blocks for _, blocks in after.values()) <= sum(b for _, b in before.values())
    printed, _ = await footnote("search", "requests a day", "--json", folder=new)
    assert json.loads(printed)["total_found"] == 1


def files_below(folder: Path) -> dict[str, tuple[int, int]]:
    """Each file's size, and how many blocks of the disk it takes."""
    found = {file: file.stat() for file in folder.rglob("*") if file.is_file()}
    return {
        str(file.relative_to(folder)): (stat.st_size, stat.st_blocks)
        for file, stat in found.items()
    }


async def test_a_damaged_backup_leaves_an_empty_house_empty(tmp_path: Path) -> None:
    file = await a_backup(tmp_path)
    whole = file.read_bytes()
    new = tmp_path / "new"
    new.mkdir()
    turned = bytearray(whole)
    turned[-5] ^= 1  # of the sum behind all else, as if any other bit were another one
    for damaged in (b"", b"no backup at all", whole[: len(whole) // 2], whole[:-1], turned):
        file.write_bytes(damaged)
        _, said = await footnote("restore", str(file), folder=new, expect=FAILED)
        assert "cannot be read as a backup" in said
        assert "Traceback" not in said

    file.write_bytes(whole)
    await footnote("restore", str(file), folder=new)
    printed, _ = await footnote("books", "--json", folder=new)
    assert [book["book_id"] for book in json.loads(printed)["books"]] == ["course"]
