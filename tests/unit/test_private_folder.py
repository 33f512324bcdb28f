"""Nobody else on the machine reads the data folder, also one that was made by an older program."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from bot.private_folder import folder_rights, mend_rights
from tests.flow.running_house import footnote, running_house
from tests.shelf_builders import write_files


def rights(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    """As a process with the usual umask made it."""
    folder = write_files(tmp_path / "data", {"index/shard/a.bin": "a", "footnote.db": "b"})
    (folder / "footnote.db").chmod(0o640)
    (folder / "index" / "run").write_text("c")
    (folder / "index" / "run").chmod(0o755)
    for each in (folder, folder / "index", folder / "index" / "shard"):
        each.chmod(0o755)
    (folder / "index" / "shard" / "a.bin").chmod(0o644)
    return folder


def everything(folder: Path) -> list[Path]:
    return [folder, *folder.rglob("*")]


def test_what_others_may_do_is_taken_away_and_nothing_else(open_folder: Path) -> None:
    outside = open_folder.parent / "outside.txt"
    outside.write_text("x")
    outside.chmod(0o644)
    (open_folder / "link").symlink_to(outside)
    assert mend_rights(open_folder).mended == 6
    assert rights(open_folder) == 0o700
    assert rights(open_folder / "footnote.db") == 0o600
    assert rights(open_folder / "index" / "run") == 0o700
    assert rights(outside) == 0o644, "a link leads to what is not ours"
    assert mend_rights(open_folder).mended == 0


def test_the_doctor_says_what_others_may_read(open_folder: Path) -> None:
    found = folder_rights(open_folder)
    assert found.is_warning
    assert "6 files or folders" in found.detail
    assert "footnote.db" in found.detail
    mend_rights(open_folder)
    assert not folder_rights(open_folder).is_warning


def test_a_folder_of_somebody_else_is_named_and_stops_nothing(open_folder: Path) -> None:
    def chmod(path: Path, mode: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(path))

    found = mend_rights(open_folder, chmod=chmod)
    assert found.mended == 0
    assert len(found.still_open) == 6
    assert "chown" in folder_rights(open_folder).advice


def test_a_disk_without_rights_is_named_and_stops_nothing(
    open_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = mend_rights(open_folder, chmod=lambda path, mode: None)
    assert found.mended == 0
    assert "footnote.db" in found.still_open
    assert "data folder is open to others" in caplog.text


def test_a_home_folder_is_left_as_it_is(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(open_folder))
    assert mend_rights(open_folder).mended == 0
    assert rights(open_folder) == 0o755
    assert folder_rights(open_folder).is_warning


async def test_a_bot_that_starts_on_an_open_folder_closes_it_and_keeps_it_closed(
    tmp_path: Path,
) -> None:
    data = write_files(tmp_path / "data", {"index/old.bin": "a"})
    data.chmod(0o755)
    write_files(tmp_path / "pages", {"limits.md": "# Limits\n\nTen files a day.\n"})
    before = os.umask(0o022)
    try:
        async with running_house(tmp_path):
            await footnote("ingest", "pages", "--book", "handbook", folder=tmp_path)
            told, _ = await footnote("doctor", "--json", folder=tmp_path, expect=None)
            assert [path for path in everything(data) if rights(path) & 0o077] == []
    finally:
        os.umask(before)
    (found,) = [each for each in json.loads(told)["findings"] if each["name"] == "data folder"]
    assert found["in_place"]
    assert [path for path in everything(data) if rights(path) & 0o077] == []
