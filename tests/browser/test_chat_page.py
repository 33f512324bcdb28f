"""The chat page as people use it: by pointer, by keys, on a telephone, in the dark."""

from __future__ import annotations

import pytest

from tests.browser.tab import Tab
from tests.flow.running_house import RunningHouse

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUMMER = "When does the reading room open in summer?"
WINTER = "And in winter?"
OFF_TOPIC = "Who won the football world cup in 1990?"
MARKER = ".exchange:last-child .marker a"
NOTE = ".exchange:last-child .notes details"


async def test_a_first_visit_offers_three_questions_and_each_is_answered(
    tab: Tab, axe_script: str
) -> None:
    await tab.go()
    starters = await tab.run("[...document.querySelectorAll('.starter')].map(e => e.innerText)")
    assert sorted(starters) == [
        "How do printing cards work?",
        "What are the opening hours?",
        "What should I do when I lose a book?",
    ]
    assert await tab.findings(axe_script) == []
    for number in (1, 2, 3):
        await tab.go()
        await tab.click(f".starters li:nth-child({number}) .starter")
        await tab.answered()
        assert await tab.count("#welcome") == 0
        assert await tab.count(".answer.completed") == 1
        assert await tab.count(MARKER) >= 1


async def test_a_footnote_opens_the_quoted_passage_and_leads_to_its_page(
    tab: Tab, axe_script: str
) -> None:
    await tab.go()
    await tab.ask(SUMMER)
    assert "9:30" in await tab.answered()
    assert not await tab.run(f"document.querySelector('{NOTE}').open")
    await tab.click(MARKER)
    await tab.until(f"document.querySelector('{NOTE}').open")
    assert "9:30" in await tab.text(f"{NOTE} mark")
    assert await tab.run("document.activeElement.matches('.notes summary')")
    assert await tab.findings(axe_script) == []
    await tab.click(f"{NOTE} .place a")
    assert "9:30" in await tab.text(".lesson-page mark")
    assert "The reading room" in await tab.text("h1")
    seen = "document.querySelector('mark').getBoundingClientRect()"
    assert await tab.run(f"{seen}.top >= 0 && {seen}.bottom <= innerHeight")
    assert await tab.findings(axe_script) == []


async def test_a_follow_up_is_understood_and_a_reload_shows_the_whole_thread(tab: Tab) -> None:
    await tab.go()
    await tab.ask(SUMMER)
    await tab.answered()
    await tab.ask(WINTER)
    assert "11:15" in await tab.answered(2)
    await tab.reload()
    assert "11:15" in await tab.answered(2)
    assert await tab.run("[...document.querySelectorAll('.asked')].map(e => e.innerText)") == [
        SUMMER,
        WINTER,
    ]
    assert await tab.count("#welcome") == 0


async def test_a_refusal_is_one_plain_sentence_without_footnotes(tab: Tab, axe_script: str) -> None:
    await tab.go()
    await tab.ask(OFF_TOPIC)
    assert (await tab.answered()).count(".") <= 1
    assert await tab.count(".answer.no_results") == 1
    assert await tab.count(".marker") == await tab.count(".notes") == 0
    assert await tab.findings(axe_script) == []


async def test_an_answer_is_rated_with_a_reason(tab: Tab) -> None:
    await tab.go()
    await tab.ask(SUMMER)
    await tab.answered()
    await tab.click("[data-act='helpful']")
    await tab.until("document.querySelector('[data-act=helpful]').ariaPressed === 'true'")
    await tab.click("[data-act='not_helpful']")
    await tab.until("document.activeElement.matches('.why input')")
    assert await tab.run("document.querySelector('[data-act=helpful]').ariaPressed") == "false"
    await tab.write("The holidays are missing")
    await tab.press("Enter")
    await tab.until("document.querySelector('.why').hidden")
    assert await tab.text("#spoken") == "Thank you."


async def test_a_thread_is_deleted_only_when_that_is_confirmed(
    tab: Tab, house: RunningHouse
) -> None:
    await tab.go()
    await tab.ask(SUMMER)
    await tab.answered()
    thread = await tab.run("document.getElementById('house').dataset.thread")
    own = f".delete[data-thread='{thread}']"
    await tab.until(f'document.querySelector("{own}")')
    await tab.click(own)
    await tab.click("#deleting [value='keep']")
    assert (await house.web.get(f"/threads/{thread}")).status_code == 200
    await tab.click(own)
    await tab.click("#deleting [value='delete']")
    await tab.until("location.pathname + location.search === '/' && document.readyState")
    await tab.until("document.querySelector('#welcome')")
    assert await tab.count(own) == 0
    assert (await house.web.get(f"/threads/{thread}")).status_code == 404


async def test_everything_is_reached_without_a_pointer(tab: Tab) -> None:
    await tab.go()
    await tab.tab_to(".starter")
    await tab.press("Enter")
    await tab.answered()
    await tab.tab_to("#question")
    await tab.write("When does the reading room")
    for _ in range(2):
        await tab.press("Enter", shift=True)
    assert await tab.count(".exchange") == 1
    await tab.write("open in winter?")
    await tab.press("Enter")
    await tab.answered(2)
    await tab.run("document.querySelector('.exchange:last-child').tabIndex = -1")
    await tab.run("document.querySelector('.exchange:last-child').focus()")
    await tab.tab_to(MARKER)
    await tab.press("Enter")
    await tab.until(f"document.querySelector('{NOTE}').open")
    await tab.press("Enter")
    assert not await tab.run(f"document.querySelector('{NOTE}').open")
    await tab.tab_to(".exchange:last-child [data-act='helpful']")
    await tab.press("Space")
    await tab.until(
        "document.querySelector('.exchange:last-child [data-act=helpful]').ariaPressed === 'true'"
    )
    await tab.run("document.activeElement.blur()")
    await tab.tab_to(".thread:first-child .delete")
    await tab.press("Enter")
    await tab.until("document.querySelector('#deleting').open")
    await tab.press("Escape")
    await tab.until("!document.querySelector('#deleting').open")
    assert await tab.count(".exchange") == 2


async def test_a_narrow_screen_shows_everything_without_moving_sideways(
    tab: Tab, axe_script: str
) -> None:
    await tab.size(320, 640, mobile=True)
    await tab.go()
    await tab.ask("What does printing cost?")
    await tab.answered()
    await tab.click(MARKER)
    await tab.until(f"document.querySelector('{NOTE}').open")
    assert await tab.run("document.documentElement.scrollWidth") <= 320
    assert await tab.findings(axe_script) == []
    assert not await tab.run("document.querySelector('#shelf').checkVisibility()")
    await tab.click("#menu")
    await tab.until("document.querySelector('#shelf').checkVisibility()")
    assert await tab.run("document.querySelector('#menu').ariaExpanded") == "true"
    assert await tab.findings(axe_script) == []
    await tab.click(".thread:first-child a")
    await tab.until("document.querySelector('.exchange')")


async def test_the_dark_is_as_readable_as_the_light_and_is_remembered(
    tab: Tab, axe_script: str
) -> None:
    await tab.go()
    await tab.ask(SUMMER)
    await tab.answered()
    await tab.click(MARKER)
    light = await tab.run("getComputedStyle(document.body).backgroundColor")
    await tab.click("#theme")
    dark = await tab.run("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    assert await tab.findings(axe_script) == []
    await tab.reload()
    assert await tab.run("getComputedStyle(document.body).backgroundColor") == dark
    await tab.prefer(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    await tab.run("localStorage.clear()")
    await tab.reload()
    assert await tab.run("getComputedStyle(document.body).backgroundColor") == dark


async def test_what_an_asker_writes_stays_words(tab: Tab) -> None:
    await tab.go()
    hostile = "<img src=/x onerror='window.hurt = 1'> When does the reading room open in summer?"
    await tab.ask(hostile)
    await tab.answered()
    await tab.reload()
    assert await tab.text(".asked") == hostile
    assert await tab.run("window.hurt === undefined")
    assert await tab.count("img") == 0


async def test_the_page_is_light_and_its_session_is_the_only_cookie(tab: Tab) -> None:
    await tab.go()
    sizes = await tab.run(
        "performance.getEntriesByType('resource').map(e => e.decodedBodySize)"
        ".concat(document.documentElement.outerHTML.length)"
    )
    assert sum(sizes) < 300_000
    cookies = (await tab.do("Network.getCookies"))["cookies"]
    assert [cookie["name"] for cookie in cookies] == ["footnote_session"]


async def test_a_rating_is_still_there_after_a_reload(tab: Tab) -> None:
    await tab.go()
    await tab.ask(SUMMER)
    await tab.answered()
    await tab.click("[data-act='helpful']")
    await tab.until("document.querySelector('[data-act=helpful]').ariaPressed === 'true'")
    await tab.reload()
    assert await tab.run("document.querySelector('[data-act=helpful]').ariaPressed") == "true"
    assert await tab.run("document.querySelector('[data-act=not_helpful]').ariaPressed") == "false"


async def test_an_edited_question_is_answered_anew_in_its_place(tab: Tab, axe_script: str) -> None:
    await tab.go()
    await tab.ask(SUMMER)
    assert "9:30" in await tab.answered()
    await tab.click("[data-act='edit']")
    await tab.until("document.activeElement.matches('.editing textarea')")
    assert await tab.findings(axe_script) == []
    await tab.press("Escape")
    await tab.until("document.activeElement.matches('[data-act=edit]')")
    assert await tab.count(".editing") == 0
    await tab.press("Enter")
    await tab.run("document.activeElement.select()")
    await tab.write("When does the reading room open in winter?")
    await tab.tab_to(".editing [type='submit']")
    await tab.press("Enter")
    # The first answer may quote the same section: only the question tells which one stands there.
    await tab.until("document.querySelector('.asked')?.innerText.includes('in winter')")
    assert "11:15" in await tab.answered()
    await tab.reload()
    assert "11:15" in await tab.answered()
    assert await tab.text(".asked") == "When does the reading room open in winter?"
    assert await tab.count(".exchange") == 1


async def test_a_deleted_question_takes_its_answer_with_it(tab: Tab, axe_script: str) -> None:
    await tab.go()
    await tab.ask(SUMMER)
    await tab.answered()
    await tab.ask(WINTER)
    await tab.answered(2)
    await tab.click(".exchange:last-child [data-act='withdraw']")
    assert await tab.findings(axe_script) == []
    await tab.click("#withdrawing [value='keep']")
    await tab.click(".exchange:last-child [data-act='withdraw']")
    await tab.click("#withdrawing [value='delete']")
    await tab.until("document.querySelectorAll('.exchange').length === 1")
    assert await tab.text("#spoken") == "The question is deleted."
    await tab.reload()
    assert "9:30" in await tab.answered()
    assert await tab.count(".exchange") == 1


async def test_an_answer_is_copied_with_its_references(tab: Tab) -> None:
    await tab.go()
    await tab.run("navigator.clipboard.writeText = async (text) => { window.copied = text }; null")
    await tab.ask(SUMMER)
    await tab.answered()
    await tab.click("[data-act='copy']")
    copied = await tab.until("window.copied")
    assert "opens at 9:30" in copied
    assert "\n\n[1] The reading room › The opening hours – http://127.0.0.1" in copied
    assert "/read/" in copied
    assert await tab.text("#spoken") == "Copied with its references."
    assert await tab.text(".confidence") == "Quoted from 1 section"
