"""What the command line says of itself, on the narrowest usual screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from bot.cli import app

SCREEN = {"COLUMNS": "80", "TERM": "dumb"}
RUNNER = CliRunner(env=SCREEN)
GROUPS = [(), ("books",), ("sources",), ("staff",), ("servers",)]


@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
def test_every_command_is_told_in_one_whole_line(group: tuple[str, ...]) -> None:
    told = RUNNER.invoke(app, [*group, "--help"]).stdout
    commands = told.split("Commands:")[1].strip("\n").splitlines()
    assert commands
    for line in commands:
        assert re.fullmatch(r"  [a-z-]+ +[A-Z][^\n]*[^.]\.", line), line


def test_what_an_option_takes_is_told_in_words_of_the_reader() -> None:
    commands = list(every_command(typer.main.get_command(app), ()))
    assert ("sources", "add") in commands
    for words in commands:
        told = RUNNER.invoke(app, [*words, "--help"]).stdout.split("Options:")[1]
        assert "<" not in told, " ".join(words)


def every_command(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    for name, below in getattr(command, "commands", {}).items():
        yield from every_command(below, (*words, name))


def test_it_tells_which_version_it_is() -> None:
    told = RUNNER.invoke(app, ["--version"])
    assert (told.exit_code, told.stdout) == (0, f"footnote {version('footnote-bot')}\n")


def test_a_checkout_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.version.PACKAGE", "footnote-that-nobody-installed")
    assert "not installed" in RUNNER.invoke(app, ["--version"]).stdout


def test_the_groups_above_are_all_there_are() -> None:
    root = typer.main.get_command(app)
    groups = {
        name for name, made in getattr(root, "commands", {}).items() if hasattr(made, "commands")
    }
    assert groups == {group[0] for group in GROUPS if group}
