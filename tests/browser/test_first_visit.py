"""The first visit of a new house: nothing is needed but the link that was printed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.opening import write_page
from tests.browser.devtools import DevTools
from tests.browser.tab import Tab, open_tab
from tests.flow.running_house import RunningHouse

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUMMER = "When does the reading room open in summer?"
AT_HOME = (
    "location.pathname === '/' && document.readyState === 'complete'"
    " && document.querySelector('#question')"
)


@pytest_asyncio.fixture(loop_scope="session")
async def stranger(browser: DevTools, house: RunningHouse) -> AsyncIterator[Tab]:
    """A browser that has never been here."""
    async with open_tab(browser, house.address) as opened:
        yield opened
        assert opened.complaints == []


async def test_the_printed_link_is_all_that_a_first_visit_needs(
    stranger: Tab, house: RunningHouse
) -> None:
    await stranger.do("Page.navigate", url=f"{house.address}{house.link}")
    await stranger.until(AT_HOME)
    assert await stranger.run("location.href") == f"{house.address}/"
    assert house.key not in await stranger.run("document.documentElement.outerHTML")
    await stranger.ask(SUMMER)
    assert "9:30" in await stranger.answered()
    history = await stranger.do("Page.getNavigationHistory")
    assert not [entry for entry in history["entries"] if house.key in entry["url"]]
    (cookie,) = (await stranger.do("Network.getCookies"))["cookies"]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    assert house.key not in cookie["value"]


async def test_the_file_that_opens_a_browser_signs_it_in(
    stranger: Tab, house: RunningHouse, tmp_path: Path
) -> None:
    page = write_page(f"{house.address}{house.link}", tmp_path)
    await stranger.do("Page.navigate", url=page.as_uri())
    await stranger.until(AT_HOME)
    await stranger.go("/admin")
    assert await stranger.text("h1") == "Numbers"


async def test_without_the_link_the_page_says_where_it_is(
    stranger: Tab, house: RunningHouse, axe_script: str
) -> None:
    for place in ("/", "/admin", "/?key=guessed"):
        await stranger.do("Page.navigate", url=f"{house.address}{place}")
        await stranger.until("location.pathname === '/sign-in' && document.querySelector('#key')")
    assert "footnote open" in await stranger.text("main")
    assert await stranger.findings(axe_script) == []
    await stranger.write(house.key)
    await stranger.press("Enter")
    await stranger.until(AT_HOME)
    await stranger.click("#sign-out")
    await stranger.until("location.pathname === '/sign-in'")
    assert (await stranger.do("Network.getCookies"))["cookies"] == []
