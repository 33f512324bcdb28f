"""A slip in the name of a report is told before an hour is measured."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.commands.eval_shown import check_reports
from rag_core.errors import ConfigurationError


def test_a_report_that_can_be_written_is_let_pass(tmp_path: Path) -> None:
    check_reports([tmp_path / "told.md", tmp_path / "told.html"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("told.pdf", "ends in .md or .html"),
        ("nowhere/told.md", "there is no folder"),
        (f"{'n' * 300}/told.md", "there is no folder"),
    ],
)
def test_a_report_that_has_no_place_is_refused(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        check_reports([tmp_path / name])


def test_a_folder_that_may_not_be_written_to_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda folder, wanted: folder != tmp_path)
    with pytest.raises(ConfigurationError, match="this user may not write into"):
        check_reports([tmp_path / "told.md"])
