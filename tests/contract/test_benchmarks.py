"""The measurements run, within their bounds, and their page holds what they print."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import PAGE, SECTIONS
from benchmarks.report import Section, bench, blocks_in, measured
from benchmarks.storage_filling import LONG_THREADS, fill, key_of
from rag_core.storage.conversations.conversations import Conversations
from rag_core.storage.engines.database import open_database

THREADS = LONG_THREADS


async def test_a_filled_database_holds_threads_that_can_be_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "filled.db"
    async with open_database(f"sqlite:///{path}"):
        pass
    fill(path, threads=THREADS)

    async with open_database(f"sqlite:///{path}") as database:
        state = await Conversations(database).open(key_of(1), model="scripted", max_turns=50)

    assert state.turn_count >= 1
    assert state.messages


def saying(name: str, script: str, *, seconds: float = 30.0) -> Section:
    call = (sys.executable, "-c", script)
    return Section(name=name, title=name.title(), about="About.", call=call, seconds=seconds)


FINE = saying("fine", "print('bare 1, ours 2')")
BROKEN = saying("broken", "print('bare 3'); raise SystemExit(4)")


def test_a_run_prints_and_writes_every_section_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "measured.md"
    assert bench([FINE, BROKEN], [], file) == 1
    assert "bare 1, ours 2" in capsys.readouterr().out
    blocks = blocks_in(file.read_text())
    assert list(blocks) == ["Fine", "Broken"]
    assert "bare 1, ours 2" in blocks["Fine"]
    assert "Not whole: ended with exit code 4" in blocks["Broken"]


def test_one_section_measured_anew_leaves_the_others(tmp_path: Path) -> None:
    file = tmp_path / "measured.md"
    bench([FINE, BROKEN], [], file)
    before = blocks_in(file.read_text())
    mended = saying("broken", "print('bare 5, ours 6')")
    assert bench([FINE, mended], ["broken"], file) == 0
    after = blocks_in(file.read_text())
    assert after["Fine"] == before["Fine"]
    assert "bare 5, ours 6" in after["Broken"]
    assert "Not whole" not in after["Broken"]


async def test_a_section_without_end_is_ended_with_all_that_it_started() -> None:
    script = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print('begun', flush=True)\n"
        "time.sleep(60)\n"
    )
    run = await measured(saying("endless", script, seconds=2.0))
    assert run.printed == "begun\n"
    assert run.fault == "ended after 2 s"


def test_all_sections_are_there_and_bounded() -> None:
    assert sum(each.seconds for each in SECTIONS) <= 15 * 60
    for each in SECTIONS:
        assert importlib.util.find_spec(each.call[2]) is not None


def test_the_page_holds_what_was_measured_in_order_and_whole() -> None:
    blocks = blocks_in(PAGE.read_text(encoding="utf-8"))
    assert list(blocks) == [each.title for each in SECTIONS if each.title in blocks]
    for each in SECTIONS:
        block = blocks.get(each.title, "")
        assert not block or each.about in block
        assert "Not whole" not in block
