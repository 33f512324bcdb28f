"""Take one check out, and the tests of attacks turn red: each wall is really tested."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOME = 4
"""So many faults are seeded in an ordinary run; FOOTNOTE_TESTS=full seeds all."""


@dataclass(frozen=True)
class Fault:
    """A check that is taken out, and a test that must notice."""

    name: str
    file: str
    check: str
    without: str
    noticed_by: str


AGENT = "rag_core/agent"
CHECKS = f"{AGENT}/checks"
VERIFICATION = f"{AGENT}/verification"
FAULTS = [
    Fault(
        "sentences are not compared with their evidence", f"{VERIFICATION}/code.py",
        "if fault := fault_in(claim):", "if fault := None:",
        "reaches_a_reader and question",
    ),
    Fault(
        "orders in documents are handed to the model", f"{AGENT}/tool.py",
        "chunk_text=for_readers(visible(result.text))", "chunk_text=visible(result.text)",
        "reach_the_model and text",
    ),
    Fault(
        "orders in titles stay", f"{AGENT}/tool.py",
        "map(readable, self._within_budget(search.found))", "self._within_budget(search.found)",
        "reach_the_model and title",
    ),
    Fault(
        "arguments outside the schema are let through", f"{AGENT}/tool_contract.py",
        'ConfigDict(extra="forbid", strict=True', 'ConfigDict(extra="ignore", strict=True',
        "reaches_a_reader and history",
    ),
    Fault(
        "any tool name is a search", f"{AGENT}/loop.py",
        "if call.name == TOOL_NAME:", "if call.name:",
        "shell",
    ),
    Fault(
        "mass mentions are not broken", "rag_core/text/lines.py",
        r'return CALL.sub(r"\g<0> ", marked)', "return marked",
        "reaches_a_reader and text",
    ),
    Fault(
        "links of the model stay", f"{CHECKS}/guard.py",
        "return GuardedText(write_stable(read_markdown(text)))", "return GuardedText(text)",
        "reaches_a_reader and text",
    ),
    Fault(
        "invisible characters stay", "rag_core/text/visible.py",
        "CONTROL.sub(\"\", INVISIBLE.sub(\"\", composed))", "CONTROL.sub(\"\", composed)",
        "reach_the_model and text",
    ),
    Fault(
        "orders are evidence", f"{VERIFICATION}/check.py",
        "text=for_readers(visible(result.text)),", "text=visible(result.text),",
        "reaches_a_reader and text",
    ),
    Fault(
        "orders are shown as sources", f"{AGENT}/response.py",
        "whole = for_readers(visible(result.text))\n"
        "    before = for_readers(visible(result.text[: result.found_at]))",
        "whole = visible(result.text)\n    before = visible(result.text[: result.found_at])",
        "reaches_a_reader and text",
    ),
    Fault(
        "words added to a quoted sentence are supported", f"{VERIFICATION}/code.py",
        "if added := added_words(sentence, text):", "if added := \"\":",
        "reaches_a_reader and question",
    ),
]  # fmt: skip
FULL = os.environ.get("FOOTNOTE_TESTS") == "full"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources and their tests, where they can be spoilt."""
    folder = tmp_path_factory.mktemp("house")
    for part in ("rag_core", "tests", "bot", "adapters"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def attacked(folder: Path, which: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider",
               "-p", "no:randomly", "tests/flow/test_attacks.py", "-k", which]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("FOOTNOTE_TESTS", None)
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("fault", FAULTS if FULL else FAULTS[:SOME], ids=lambda fault: fault.name)
def test_a_check_that_is_taken_out_is_missed(copied: Path, fault: Fault) -> None:
    file = copied / fault.file
    sound = file.read_text(encoding="utf-8")
    assert sound.count(fault.check) == 1, "the check stands elsewhere now: seed the fault anew"
    file.write_text(sound.replace(fault.check, fault.without), encoding="utf-8")
    try:
        ran = attacked(copied, fault.noticed_by)
    finally:
        file.write_text(sound, encoding="utf-8")
    assert ran.returncode == 1, ran.stdout[-2_000:] + ran.stderr[-2_000:]
    assert "AssertionError" in ran.stdout or "assert" in ran.stdout
    assert "1 failed" in ran.stdout


def test_without_a_fault_the_copy_is_sound(copied: Path) -> None:
    ran = attacked(copied, "shell or names or (link and shown) or enough")
    assert ran.returncode == 0, ran.stdout[-2_000:]


def test_ten_checks_and_more_are_seeded() -> None:
    assert len({fault.name for fault in FAULTS}) >= 10
