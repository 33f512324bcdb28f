"""A data folder's name stays with it, and a copy of the folder has one of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

from bot.door import WITNESS_FILE, worker_name


def test_the_next_process_on_a_folder_bears_the_same_name(tmp_path: Path) -> None:
    assert worker_name(tmp_path) == worker_name(tmp_path)


def test_a_folder_that_is_moved_keeps_its_name(tmp_path: Path) -> None:
    name = worker_name(made(tmp_path / "data"))
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    assert worker_name(tmp_path / "elsewhere") == name


def test_a_copy_has_a_name_of_its_own_and_keeps_that(tmp_path: Path) -> None:
    name = worker_name(made(tmp_path / "data"))
    shutil.copytree(tmp_path / "data", tmp_path / "data-2")
    other = worker_name(tmp_path / "data-2")
    assert other != name
    assert worker_name(tmp_path / "data-2") == other
    assert worker_name(tmp_path / "data") == name


def test_a_folder_of_an_earlier_version_keeps_its_name(tmp_path: Path) -> None:
    name = worker_name(tmp_path)
    (tmp_path / WITNESS_FILE).unlink()
    assert worker_name(tmp_path) == name


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder
