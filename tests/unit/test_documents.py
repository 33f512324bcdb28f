"""What the documents speak of exists: commands, settings, targets, files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from bot.cli import app
from bot.settings import variables

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/*"), ROOT / "Procfile"]
)
COMMAND = re.compile(r"(?<![\w/.-])footnote ([a-z]+)(?: ([a-z]+))?")
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


@pytest.fixture(scope="module")
def commands() -> set[str]:
    return set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_that_a_document_names_is_there(document: Path, commands: set[str]) -> None:
    assert names(document, COMMAND) <= commands


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
