"""The page of a Footnote that has read nothing yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.devtools import DevTools
from tests.browser.tab import open_tab
from tests.flow.running_house import footnote, running_house

PLACES = ("gaps", "books", "channels", "answers", "staff")

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_page_says_how_to_begin_and_then_offers_questions(
    browser: DevTools, axe_script: str, tmp_path: Path
) -> None:
    (tmp_path / "pages").mkdir()
    page = (
        "# Loans\n\n## Lost books\n\n"
        "Lost books cost 12 euros, and they work as late books do: tell the desk.\n"
    )
    (tmp_path / "pages" / "loans.md").write_text(page, encoding="utf-8")
    async with (
        running_house(tmp_path) as house,
        open_tab(browser, house.address, key=house.key) as tab,
    ):
        for place in ("/admin", *(f"/admin/{name}" for name in PLACES)):
            await tab.go(place)
            assert await tab.findings(axe_script) == [], place
        await tab.go()
        command = (await tab.text("#welcome pre")).split()
        assert command[:2] == ["footnote", "ingest"]
        assert await tab.count(".starter") == 0
        assert await tab.findings(axe_script) == []
        words = [word.replace("path/to/documents", "pages") for word in command[1:]]
        await footnote(*words, folder=tmp_path)
        await tab.reload()
        assert await tab.text(".starter") == "How do lost books work?"
        assert await tab.count(".to-do") == 0
        assert tab.complaints == []
        assert tab.strangers == []
