"""What the command line says of itself, on the narrowest usual screen."""

from __future__ import annotations

import re

import pytest
import typer
from typer.testing import CliRunner

from bot.cli import app

SCREEN = {"COLUMNS": "80", "TERM": "dumb"}
RUNNER = CliRunner(env=SCREEN)
GROUPS = [(), ("books",), ("sources",), ("staff",)]


@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
def test_every_command_is_told_in_one_whole_line(group: tuple[str, ...]) -> None:
    told = RUNNER.invoke(app, [*group, "--help"]).stdout
    commands = told.split("Commands:")[1].strip("\n").splitlines()
    assert commands
    for line in commands:
        assert re.fullmatch(r"  [a-z-]+ +[A-Z][^\n]*[^.]\.", line), line


def test_the_groups_above_are_all_there_are() -> None:
    root = typer.main.get_command(app)
    groups = {
        name for name, made in getattr(root, "commands", {}).items() if hasattr(made, "commands")
    }
    assert groups == {group[0] for group in GROUPS if group}
