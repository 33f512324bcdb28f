"""One browser for all tests, one house for each module, and a tab that must stay without fault."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.browser.devtools import DevTools, open_chromium
from tests.browser.environment import NotFetched, Program, axe, chromium
from tests.browser.tab import Tab, open_tab
from tests.flow.running_house import RunningHouse, footnote, running_house
from tests.peers.openai import OpenAIPeer, openai_peer

PAGES = {
    "reading-room.md": (
        "# The reading room\n\n## The opening hours\n\n"
        "In summer the opening hours are long: the reading room opens at 9:30 and closes at 20:00."
        "\n\n## Winter\n\n"
        "In winter the reading room opens at 11:15 and closes at 17:00.\n"
    ),
    "loans.md": (
        "# Loans\n\n## When you lose a book\n\n"
        "When you lose a book, you should tell the desk what it was called. A lost book costs"
        " 12 euros, and you do not pay more than that.\n\n## The times\n\n"
        "A book may be kept for four weeks. Films may be kept for five days.\n"
    ),
    "printing.md": (
        "# Printing\n\n## Printing cards\n\n"
        "Printing cards work in every printer of the house. Printing cards cost 5 euros and hold"
        " 100 sheets.\n\n| Paper | Price |\n|---|--:|\n| A4 | 5 cents |\n| A3 | 10 cents |\n"
    ),
}


@pytest.fixture(scope="session")
def program() -> Program:
    try:
        return chromium()
    except NotFetched as missing:
        pytest.fail(str(missing), pytrace=False)


@pytest.fixture(scope="session")
def axe_script() -> str:
    try:
        return axe()
    except NotFetched as missing:
        pytest.fail(str(missing), pytrace=False)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def model() -> AsyncIterator[OpenAIPeer]:
    """A language model over loopback that plays a script."""
    async with openai_peer() as peer:
        yield peer


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(
    program: Program, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[DevTools]:
    async with open_chromium(program, tmp_path_factory.mktemp("profile")) as devtools:
        yield devtools


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def read_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the program has read three pages."""
    folder = tmp_path_factory.mktemp("read")
    (folder / "pages").mkdir()
    for name, text in PAGES.items():
        (folder / "pages" / name).write_text(text, encoding="utf-8")
    await footnote("ingest", "pages", "--book", "library", folder=folder)
    return folder


@pytest.fixture(scope="module")
def library(read_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of it: no module sees the threads of another."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(read_library, folder, dirs_exist_ok=True)
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(library: Path) -> AsyncIterator[RunningHouse]:
    async with running_house(library) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: DevTools, house: RunningHouse) -> AsyncIterator[Tab]:
    """A tab at the house: whatever a test does there, no error is heard, no other host asked."""
    async with open_tab(browser, house.address, key=house.key) as opened:
        yield opened
        assert opened.complaints == []
        assert opened.strangers == []
