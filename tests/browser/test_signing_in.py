"""The pages of a house with keys: a key is shown once, and what it opens is closed behind one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.browser.devtools import DevTools
from tests.browser.tab import Tab, open_tab
from tests.flow.running_house import RunningHouse, running_house

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEY = "a-key-of-the-library"
SUMMER = "When does the reading room open in summer?"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(library: Path) -> AsyncIterator[RunningHouse]:
    async with running_house(library, FOOTNOTE_API_KEYS=f"{KEY},other-key") as running:
        yield running


ARRIVED = "location.pathname === '/' && document.readyState === 'complete'"


async def sign_in(tab: Tab, key: str) -> None:
    await tab.go("/sign-in")
    await tab.click("#key")
    await tab.write(key)
    await tab.press("Enter")


async def test_a_key_opens_the_page_for_everything_that_the_page_can_do(
    tab: Tab, axe_script: str
) -> None:
    await tab.do("Page.navigate", url=f"{tab.base}/")
    await tab.until("location.pathname === '/sign-in' && document.querySelector('#key')")
    assert await tab.findings(axe_script) == []
    await tab.write(KEY)
    await tab.press("Enter")
    await tab.until(ARRIVED)
    await tab.ask(SUMMER)
    assert "9:30" in await tab.answered()
    await tab.click("[data-act='helpful']")
    await tab.until("document.querySelector('[data-act=helpful]').ariaPressed === 'true'")
    cookies = (await tab.do("Network.getCookies"))["cookies"]
    assert [(cookie["httpOnly"], KEY in cookie["value"]) for cookie in cookies] == [(True, False)]
    assert KEY not in await tab.run("document.documentElement.outerHTML")
    await tab.click(".thread .delete")
    await tab.click("#deleting [value='delete']")
    await tab.until(f"{ARRIVED} && document.querySelector('#welcome')")
    await tab.click("#sign-out")
    await tab.until("location.pathname === '/sign-in'")
    assert (await tab.do("Network.getCookies"))["cookies"] == []


async def test_two_browsers_with_the_same_key_do_not_see_each_other(
    tab: Tab, browser: DevTools
) -> None:
    await sign_in(tab, KEY)
    await tab.until(ARRIVED)
    await tab.ask(SUMMER)
    await tab.answered()
    thread = await tab.run("location.search")
    async with open_tab(browser, tab.base) as other:
        await sign_in(other, KEY)
        await other.until(ARRIVED)
        assert await other.count("#welcome") == 1
        assert await other.count(".thread") == 0
        await other.go(f"/{thread}")
        assert await other.count(".exchange") == 0
        assert other.complaints == []


async def test_a_wrong_key_is_told_so_in_one_sentence(
    browser: DevTools, house: RunningHouse, axe_script: str
) -> None:
    async with open_tab(browser, str(house.web.base_url)) as tab:
        await sign_in(tab, "guessed")
        assert await tab.until("document.querySelector('.notice')?.innerText.trim()")
        assert await tab.run("document.querySelector('#key').value") == ""
        assert await tab.findings(axe_script) == []
        assert tab.strangers == []
