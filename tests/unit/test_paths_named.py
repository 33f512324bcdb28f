"""Paths that a command is given: what cannot be read is told in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import cli, shelf_cli
from rag_core.errors import IngestionError, InvalidQuestion
from tests.fakes.locked_folder import locked


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "closed"
    folder.mkdir()
    return locked(folder, monkeypatch)


def test_a_file_that_may_not_be_looked_at_is_named(closed: Path) -> None:
    file = str(closed / "alpha.md")
    for name in (lambda: cli.located([file]), lambda: shelf_cli.located(file, pull=False)):
        with pytest.raises(IngestionError, match=r"alpha\.md: .* \(Permission denied\)\.$"):
            name()


def test_a_checkout_that_may_not_be_looked_into_is_named(closed: Path) -> None:
    with pytest.raises(IngestionError, match=r"closed/\.git: .* \(Permission denied\)\.$"):
        shelf_cli.located(str(closed), pull=True)


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
