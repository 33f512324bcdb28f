"""Paths that a command is given: what cannot be read is told in one sentence."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from bot import cli, shelf_cli
from rag_core.errors import IngestionError, InvalidQuestion


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that this user may not look into."""
    folder = tmp_path / "locked"
    folder.mkdir()
    look = Path.stat

    def refused(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if folder in path.parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return look(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", refused)
    return folder


def test_a_file_that_may_not_be_looked_at_is_named(locked: Path) -> None:
    file = str(locked / "alpha.md")
    for name in (lambda: cli.located([file]), lambda: shelf_cli.located(file, pull=False)):
        with pytest.raises(IngestionError, match=r"alpha\.md: .* \(Permission denied\)\.$"):
            name()


def test_a_checkout_that_may_not_be_looked_into_is_named(locked: Path) -> None:
    with pytest.raises(IngestionError, match=r"locked/\.git: .* \(Permission denied\)\.$"):
        shelf_cli.located(str(locked), pull=True)


def test_a_path_below_a_file_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with pytest.raises(IngestionError, match="there is no such file or folder"):
        cli.located([str(tmp_path / "plain" / "alpha.md")])


def test_an_empty_path_is_not_taken_for_the_working_folder() -> None:
    for name in (
        lambda: cli.located([""]),
        lambda: shelf_cli.located("", pull=False),
        lambda: shelf_cli.located("", pull=True),
    ):
        with pytest.raises(InvalidQuestion, match="is empty"):
            name()
