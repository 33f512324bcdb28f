"""What the documents speak of exists: commands, settings, targets, files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

from bot.cli import app
from bot.settings import variables

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/*"), ROOT / "Procfile"]
)
COMMAND = re.compile(r"(?<![\w/.-])footnote ([a-z]+)(?: ([a-z]+))?")
CALL = re.compile(r"(?<![\w/.-])footnote ([a-z]+)([^`\n|]*)")
OPTION = re.compile(r"(?<!\S)\[?(--[a-z][a-z-]*)")
VARIABLE = re.compile(r"\b(?:FOOTNOTE|AGENT|OPENAI|COHERE|QDRANT|DISCORD|SLACK)_[A-Z_]+\b")
TARGET = re.compile(r"(?<![\w-])make ([a-z][a-z-]+)")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


def code_of(document: Path) -> Iterator[str]:
    """What stands in code, where names are meant literally."""
    text = document.read_text(encoding="utf-8")
    if document.suffix != ".md":
        yield text
        return
    for match in CODE.finditer(text):
        yield match[0]


def names(document: Path, pattern: re.Pattern[str]) -> set[str]:
    return {
        match[1 if pattern.groups else 0]
        for code in code_of(document)
        for match in pattern.finditer(code)
    }


def options_of(command: Any) -> set[str]:
    """The options of a command and of what stands below it."""
    own = {name for parameter in command.params for name in parameter.opts}
    below = [options_of(each) for each in getattr(command, "commands", {}).values()]
    return own.union({"--help"}, *below)


@pytest.fixture(scope="module")
def commands() -> Mapping[str, Any]:
    """Every command by its name."""
    found: Mapping[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_that_a_document_names_is_there(
    document: Path, commands: Mapping[str, Any]
) -> None:
    assert names(document, COMMAND) <= set(commands)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_option_that_a_document_shows_is_there(
    document: Path, commands: Mapping[str, Any]
) -> None:
    wrong = [
        f"{name} {option}"
        for code in code_of(document)
        for name, rest in CALL.findall(code.replace("\\\n", " "))
        for option in OPTION.findall(rest)
        if name in commands and option not in options_of(commands[name])
    ]
    assert not wrong


def test_every_option_in_a_line_of_the_readme_is_some_command_s() -> None:
    """Also where a cell of the table goes on without the command's name."""
    every = options_of(typer.main.get_command(app))
    spans = [code for code in code_of(ROOT / "README.md") if not code.startswith("```")]
    named = {option for code in spans for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", code)}
    assert named
    assert named <= every


def test_the_readme_names_every_command(commands: Mapping[str, Any]) -> None:
    assert names(ROOT / "README.md", COMMAND) >= set(commands)


def test_what_stands_below_a_command_is_there_as_named(commands: Mapping[str, Any]) -> None:
    named = {
        (match[1], match[2])
        for document in DOCUMENTS
        for code in code_of(document)
        for match in COMMAND.finditer(code)
        if match[2] and hasattr(commands.get(match[1]), "commands")
    }
    assert named
    assert [pair for pair in named if pair[1] not in commands[pair[0]].commands] == []


def test_the_figures_of_the_readme_stand_in_the_documents() -> None:
    """Where they are told with how they were measured; the README rounds them."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"\n## How well it finds.*?\n## ", readme, re.DOTALL)
    told = "".join((ROOT / "docs" / name).read_text() for name in ("retrieval.md", "answers.md"))
    measured = {f"{float(number):.2f}" for number in re.findall(r"\b0\.\d{3}\b", told)}
    figures = re.findall(r"\b0\.\d\d\b", section)
    assert figures
    assert set(figures) <= measured
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    assert len(rows) > 2
    assert set(rows) <= set(told.splitlines())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_setting_that_a_document_names_is_there(document: Path) -> None:
    assert names(document, VARIABLE) <= set(variables())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_target_that_a_document_names_is_there(document: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    families = tuple(re.findall(r"^([a-z][a-z-]*-)%:", makefile, re.MULTILINE))
    named = {name for name in names(document, TARGET) if not name.startswith(families)}
    assert named <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_that_a_document_leads_to_is_there(document: Path) -> None:
    text = CODE.sub("", document.read_text(encoding="utf-8"))
    local = [link for link in LINK.findall(text) if "://" not in link]
    assert [link for link in local if not (document.parent / link).exists()] == []


def test_the_plan_names_every_room() -> None:
    plan = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [
        folder.relative_to(ROOT).as_posix()
        for floor in ("rag_core", "adapters", "bot")
        for folder in (ROOT / floor).iterdir()
        if (folder / "__init__.py").exists()
    ]
    assert [room for room in rooms if f"`{room}`" not in plan] == []
