"""The dashboard with data in it, as an admin uses it."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.browser.tab import Tab
from tests.flow.running_house import RunningHouse

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUMMER = "When does the reading room open in summer?"
IN_VAIN = ("May I bring my dog?", "Are dogs allowed in the reading room?")
PLACES = ("gaps", "books", "channels", "answers", "staff")
PAGES = ("/admin", *(f"/admin/{place}" for place in PLACES))
NEW_PAGE = "# Courses\n\n## Pottery\n\nThe pottery course begins on Tuesdays at 18:30.\n"


async def asked(house: RunningHouse) -> dict[str, object]:
    for question in IN_VAIN:
        await house.ask(message=question)
    return await house.ask(message=SUMMER)


async def test_every_page_of_the_dashboard_is_readable_in_the_light_and_in_the_dark(
    tab: Tab, house: RunningHouse, axe_script: str
) -> None:
    answer = await asked(house)
    story = f"/admin/answers/{answer['answer_id']}"
    for theme in ("light", "dark"):
        await tab.prefer(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
        for page in (*PAGES, story):
            await tab.go(page)
            assert await tab.findings(axe_script) == [], (page, theme)
    await tab.size(360, 700, mobile=True)
    for page in (*PAGES, story):
        await tab.go(page)
        assert await tab.run("document.documentElement.scrollWidth") <= 360, page


async def test_the_numbers_are_drawn(tab: Tab, house: RunningHouse) -> None:
    answer = await asked(house)
    rating = {"answer_id": answer["answer_id"], "rating": "helpful"}
    (await house.web.post("/feedback", json=rating)).raise_for_status()
    await tab.go("/admin")
    await tab.until("document.querySelectorAll('.chart canvas').length === 2")
    inked = (
        "(() => { const c = document.querySelector('#outcomes canvas');"
        " const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        " return d.some((value, place) => place % 4 === 3 && value) })()"
    )
    assert await tab.run(inked)
    assert int(await tab.text(".tiles li:first-child strong")) >= 3
    await tab.click("#theme")
    await tab.until("document.querySelectorAll('.chart canvas').length === 2")


async def test_a_gap_is_planned_with_the_keyboard_and_stays_planned(
    tab: Tab, house: RunningHouse
) -> None:
    await asked(house)
    await tab.go("/admin/gaps")
    told = await tab.text(".gap:first-child")
    assert any(question in told for question in IN_VAIN)
    await tab.tab_to(".gap:first-child select")
    await tab.do("Input.insertText", text="p")
    for kind in ("keyDown", "keyUp"):
        await tab.do("Input.dispatchKeyEvent", type=kind, key="p", text="p", code="KeyP")
    await tab.until("document.querySelector('.gap:first-child').matches('.planned')")
    await tab.until("document.querySelector('#spoken').innerText === 'The gap is planned.'")
    await tab.go("/admin/gaps?state=planned")
    assert await tab.count(".gap.planned") == 1
    assert "dog" in (await house.web.get("/gaps/markdown?state=planned")).text


async def drop(tab: Tab, path: Path) -> None:
    """Let a file fall on the field, as from a folder on the desktop."""
    place = await tab.run(
        "(({ left, top }) => ({ x: left + 20, y: top + 20 }))"
        "(document.querySelector('#drop-field').getBoundingClientRect())"
    )
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        await tab.do("Input.dispatchDragEvent", type=kind, data=data, **place)


async def test_files_are_dropped_read_and_answered_from(
    tab: Tab, house: RunningHouse, tmp_path: Path, axe_script: str
) -> None:
    (tmp_path / "courses.md").write_text(NEW_PAGE, encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(base64.b64decode("iVBORw0KGgo="))
    await tab.go("/admin/books")
    await tab.click("[name='book_id']")
    await tab.write("library")
    await drop(tab, tmp_path / "courses.md")
    await tab.until("document.querySelector('#drop-words').innerText.startsWith('1 of 1 taken')")
    await tab.until("document.querySelectorAll('.job.completed').length === 2")
    assert (await tab.text(".job:first-child .counts")).startswith("1 read")
    assert await tab.findings(axe_script) == []
    answer = await house.ask(message="When does the pottery course begin?")
    assert "18:30" in answer["answer"]
    await drop(tab, tmp_path / "picture.png")
    await tab.until("document.querySelector('#drop-refused li')")
    assert "not read" in await tab.text("#drop-refused")
    # The browser itself tells of refused requests; here they are what is tried.
    tab.complaints.clear()


async def told(tab: Tab, part: str, words: str) -> None:
    """Wait until the page, loaded anew and whole, says so of the first answer."""
    said = f"document.querySelector('.staff {part}')?.innerText.includes({words!r})"
    await tab.until(f"document.readyState === 'complete' && {said}")


async def test_an_answer_of_the_staff_is_written_changed_and_withdrawn(
    tab: Tab, house: RunningHouse, axe_script: str
) -> None:
    await tab.go("/admin/staff")
    for name, words in (
        ("author", "Ada"),
        ("question", "Where do I lock my bicycle?"),
        ("text", "Bicycles are locked to the rail of the north gate."),
    ):
        await tab.tab_to(f"#staff-form [name='{name}']", within=60)
        await tab.write(words)
    await tab.tab_to("#staff-form button")
    await tab.press("Enter")
    await told(tab, ".said", "north gate")
    assert await tab.findings(axe_script) == []
    assert "north gate" in (await house.ask(message="Where do I lock my bicycle?"))["answer"]
    await tab.click(".staff summary")
    await tab.run("document.querySelector('.staff textarea').select()")
    await tab.write("Bicycles are locked to the rail of the south gate.")
    assert await tab.findings(axe_script) == []
    await tab.click(".staff .primary")
    await told(tab, ".said", "south gate")
    await tab.click(".staff summary")
    await tab.run("document.querySelector('.staff [name=until]').value = '2020-01-01'")
    await tab.click(".staff .primary")
    await told(tab, ".when", "not found any")
    late = await house.ask(message="Where do I lock my bicycle?")
    assert late["outcome"] == "no_results"
    await tab.click(".staff summary")
    await tab.click(".staff [data-act=withdraw]")
    await tab.until("!document.querySelector('.staff')")
    assert (await house.web.get("/staff-answers")).json() == {"staff_answers": []}


async def test_a_channel_is_bound_on_its_page(tab: Tab) -> None:
    await tab.go("/admin/channels")
    await tab.click("[name='tenant']")
    await tab.write("T1")
    await tab.click("[name='book_ids']")
    await tab.write("library")
    await tab.press("Enter")
    bound = await tab.until(
        "[...document.querySelectorAll('tbody tr')].map(row => row.innerText)"
        ".find(row => row.includes('T1') && row.includes('library'))"
    )
    assert "everywhere" in bound


async def test_what_holds_in_a_place_is_taken_up_again_and_one_thing_changed(
    tab: Tab, house: RunningHouse, axe_script: str
) -> None:
    said = {
        "platform": "discord",
        "tenant": "42",
        "channel_id": "77",
        "book_ids": ["library"],
        "modules": [],
        "auto_answer": False,
        "hint_only": True,
        "tone": "short",
        "released_at": "2026-05-01T23:59:59+00:00",
        "hardware_tier": 2,
        "proficiency_levels": ["A1", "A2"],
    }
    (await house.web.put("/policies", json=said)).raise_for_status()
    await tab.go("/admin/channels")
    await tab.click("[data-act='edit-place'][aria-label$=' 77']")
    await tab.until("document.activeElement.name === 'book_ids'")
    await tab.run("document.querySelector('[name=tone]').select()")
    await tab.write("friendly")
    assert await tab.findings(axe_script) == []
    await tab.press("Enter")
    await tab.until("document.querySelector('tbody')?.innerText.includes('friendly')")
    policies = (await house.web.get("/policies")).json()["policies"]
    assert [each for each in policies if each["channel_id"] == "77"] == [
        {**said, "tone": "friendly"}
    ]


async def test_the_chat_leads_to_the_dashboard_and_back(tab: Tab) -> None:
    await tab.go()
    await tab.click(".shelf-foot a[href='/admin']")
    await tab.until("document.querySelector('.admin-page')")
    await tab.click(".admin-top .wordmark")
    await tab.until("document.querySelector('#question')")


async def test_tables_keep_their_words_whole_on_a_narrow_screen(
    tab: Tab, house: RunningHouse, axe_script: str
) -> None:
    await asked(house)
    await tab.size(390, 760, mobile=True)
    for path in ("/admin", "/admin/answers"):
        await tab.go(path)
        cut = await tab.run(
            "[...document.querySelectorAll('thead th')].filter(th => th.offsetParent"
            " && th.getClientRects()[0].height > 45).map(th => th.innerText)"
        )
        assert cut == []
        assert await tab.run("document.documentElement.scrollWidth <= innerWidth")
        assert await tab.findings(axe_script) == []
