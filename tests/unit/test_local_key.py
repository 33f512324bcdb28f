"""The local key: one for each data folder, and nobody else's to read."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bot.local_key import FILE, KEY, ensure_local_key, read_local_key


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_it_is_made_once_and_stays(tmp_path: Path) -> None:
    assert read_local_key(tmp_path) is None
    key = ensure_local_key(tmp_path)
    assert KEY.fullmatch(key)
    assert (tmp_path / FILE).read_text() == f"{key}\n"
    assert mode_of(tmp_path / FILE) == 0o600
    assert ensure_local_key(tmp_path) == read_local_key(tmp_path) == key


def test_two_folders_have_two_keys(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    assert len({ensure_local_key(folder) for folder in folders}) == 2


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from bot.local_key import ensure_local_key;"
        "sys.stdin.readline(); print(ensure_local_key(Path(sys.argv[1])))"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    for each in started:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    told = {each.communicate(timeout=30)[0].strip() for each in started}
    assert told == {read_local_key(tmp_path)}


@pytest.mark.parametrize("found", ["", "\n", "short", "with space " * 5, "\x00" * 50, "ü" * 40])
def test_a_key_that_is_none_is_made_anew(
    found: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).write_text(found)
    assert read_local_key(tmp_path) is None
    key = ensure_local_key(tmp_path)
    assert KEY.fullmatch(key)
    assert (tmp_path / FILE).read_text() == f"{key}\n"
    assert ("local key was not usable" in caplog.text) is bool(found.strip())
    assert key not in caplog.text


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o604, 0o400])
def test_wrong_rights_are_repaired_and_told(
    mode: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = ensure_local_key(tmp_path)
    (tmp_path / FILE).chmod(mode)
    assert ensure_local_key(tmp_path) == key
    assert mode_of(tmp_path / FILE) == 0o600
    assert ("open to other users" in caplog.text) is bool(mode & 0o077)
    assert key not in caplog.text


def test_a_link_to_another_place_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("k" * 40)
    (tmp_path / FILE).symlink_to(elsewhere)
    assert ensure_local_key(tmp_path) != "k" * 40
    assert not (tmp_path / FILE).is_symlink()
    assert elsewhere.read_text() == "k" * 40


def test_a_second_name_of_the_file_does_not_give_the_key_away(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("")
    os.link(tmp_path / FILE, tmp_path / "copy")
    ensure_local_key(tmp_path)
    assert (tmp_path / "copy").read_text() == ""
