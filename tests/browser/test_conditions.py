"""The page where conditions are poor: no line, little room, words from the right, on paper."""

from __future__ import annotations

import pytest

from tests.browser.tab import Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

WINTER = "When does the reading room open in winter?"
HEADS = ("Name", "Height in centimetres", "Colour", "Price", "Weight", "Remark", "Depth")
WIDE = f"<table><thead><tr>{''.join(f'<th>{head}</th>' for head in HEADS)}</tr></thead></table>"
TALLEST_HEAD = (
    "Math.max(...[...document.querySelectorAll('th')].map(th => {"
    " const range = document.createRange(); range.selectNodeContents(th);"
    " return range.getClientRects().length }))"
)


async def line(tab: Tab, *, cut: bool) -> None:
    await tab.do(
        "Network.emulateNetworkConditions",
        offline=cut,
        latency=0,
        downloadThroughput=-1,
        uploadThroughput=-1,
    )


async def test_a_question_without_a_line_says_so_and_is_answered_when_it_is_back(
    tab: Tab,
) -> None:
    await tab.go()
    await line(tab, cut=True)
    await tab.ask(WINTER)
    await tab.until("document.querySelector('.stage')?.innerText.includes('is cut')")
    await line(tab, cut=False)
    assert "11:15" in await tab.answered()
    await tab.reload()
    assert await tab.count(".exchange") == 1
    assert all("ERR_INTERNET_DISCONNECTED" in complaint for complaint in tab.complaints)
    tab.complaints.clear()


async def test_a_wide_table_is_moved_in_itself_and_breaks_no_word(tab: Tab) -> None:
    await tab.size(320, 700, mobile=True)
    await tab.go()
    await tab.ask(WINTER)
    await tab.answered()
    await tab.run(f"document.querySelector('.prose').innerHTML = {WIDE!r}")
    assert await tab.run(TALLEST_HEAD) <= len(["Height", "in", "centimetres"])
    assert await tab.run(
        "(t => t.scrollWidth > t.clientWidth)(document.querySelector('.prose table'))"
    )
    assert await tab.run("document.documentElement.scrollWidth") <= 320


async def test_words_from_the_right_begin_at_the_right(tab: Tab) -> None:
    await tab.go()
    await tab.ask("מתי הספרייה פתוחה בחורף?")
    await tab.answered()
    sides = (
        "(asked => { const range = document.createRange(); range.selectNodeContents(asked);"
        " const words = range.getBoundingClientRect(), box = asked.getBoundingClientRect();"
        " return [words.left - box.left, box.right - words.right] })"
        "(document.querySelector('.asked'))"
    )
    left, right = await tab.run(sides)
    assert right <= left


async def test_on_paper_stand_questions_and_answers_whole_and_nothing_to_press(tab: Tab) -> None:
    await tab.go()
    for times in (1, 2, 3):
        await tab.ask(WINTER)
        await tab.answered(times)
    await tab.do("Emulation.setEmulatedMedia", media="print")
    await tab.size(800, 600)
    seen = "[...document.querySelectorAll('button, textarea')].filter(e => e.offsetParent).length"
    assert await tab.run(seen) == 0
    assert await tab.run("(s => s.scrollHeight <= s.clientHeight + 1)(document.body)")
    assert await tab.run("document.querySelector('#scroll').scrollHeight") > 600
    await tab.do("Emulation.setEmulatedMedia", media="")


async def test_back_and_forward_lead_to_the_thread_and_away_from_it(tab: Tab) -> None:
    await tab.go()
    await tab.ask(WINTER)
    await tab.answered()
    first = await tab.run("location.href")
    await tab.go()
    assert await tab.count(".exchange") == 0
    await tab.run("history.back()")
    await tab.until(f"location.href === {first!r} && document.querySelector('[data-answer]')")
    assert "11:15" in await tab.text(".prose")
    await tab.run("history.forward()")
    await tab.until("document.querySelector('#welcome')")
