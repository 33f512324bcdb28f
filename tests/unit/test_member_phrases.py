"""Members of a chat are never told names of settings: those are for whoever runs the bot."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.apologies import sentence_for
from bot.settings import variables
from rag_core.agent.phrases import PHRASES
from rag_core.errors import NoBookChosen

ROOT = Path(__file__).parents[2]
NAMES = re.compile("|".join(sorted(variables(), key=len, reverse=True)))
FOR_OPERATORS = {
    "adapters/discord/client.py": "errors that end the start",
    "adapters/discord/findings.py": "the doctor, for operators and admins",
    "adapters/discord/gateway/trial.py": "the doctor",
    "adapters/slack/calling/trial.py": "the doctor",
    "adapters/slack/calling/troubles.py": "the doctor, for operators and admins",
    "adapters/slack/config.py": "errors that end the start",
    "adapters/slack/hearing/socket.py": "errors that end the connection",
    "adapters/slack/installing/admission.py": "advice in the log",
    "adapters/slack/installing/workspace.py": "errors that end the start",
    "adapters/slack/installing/workspaces.py": "the doctor",
}
"""Modules that speak to whoever runs the bot, and in what; all others may speak to anybody."""


def sources() -> list[Path]:
    folders = [f"adapters/{name}" for name in ("discord", "slack")]
    folders += [f"rag_core/{name}" for name in ("agent", "books", "desk", "staff", "retrieval")]
    deep = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return sorted([*(ROOT / "adapters").glob("*.py"), *deep])


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def texts_in(path: Path) -> Iterator[str]:
    """Every text of a module, but for those that document it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documents = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    yield from (
        node.value
        for node in constants
        if isinstance(node.value, str) and id(node) not in documents
    )


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_no_sentence_that_members_may_read_names_a_setting(path: Path) -> None:
    named = [text for text in texts_in(path) if NAMES.search(text)]
    assert bool(named) == (name_of(path) in FOR_OPERATORS), named


@pytest.mark.parametrize("locale", sorted(PHRASES))
def test_whoever_asks_where_no_book_is_chosen_is_told_a_command_and_no_setting(locale: str) -> None:
    for error in (NoBookChosen(), NoBookChosen(missing=["course"])):
        sentence = sentence_for(error, locale)
        assert "`footnote books bind`" in sentence
        assert not NAMES.search(sentence)
