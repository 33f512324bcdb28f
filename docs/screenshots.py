"""Takes the pictures of README and documents: the sample course, asked in a real browser.

`make screenshots` runs it. What is shown is what the program does: nothing is posed."""

from __future__ import annotations

import asyncio
import base64
import shutil
import tempfile
from pathlib import Path

from tests.browser.devtools import open_chromium
from tests.browser.environment import chromium
from tests.browser.tab import Tab, open_tab
from tests.flow.running_house import ROOT, RunningHouse, footnote, running_house

IMAGES = Path(__file__).parent / "images"
ASKED = (
    "How do I calibrate the weighing plate?",
    "What does Basil do when a step fails?",
    "Which tools does Basil have?",
    "How are units converted?",
)
IN_VAIN = (
    "May I bring my dog to the course?",
    "Are dogs allowed in the kitchen?",
    "How much does the course cost?",
    "What is the price of the course?",
    "Is there a discount for students?",
)


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")
        await footnote("ingest", "examples/course", "--book", "course", folder=folder)
        async with (
            running_house(folder, FOOTNOTE_DEFAULT_BOOK="course") as house,
            open_chromium(chromium(), folder / "profile") as browser,
            open_tab(browser, house.address, key=house.key) as tab,
        ):
            await lived_in(house)
            await pictures(tab)


async def lived_in(house: RunningHouse) -> None:
    """A day's questions, some of them rated."""
    for question in (*ASKED, *IN_VAIN):
        answer = await house.ask(message=question)
        if answer["outcome"] == "completed":
            rating = {"answer_id": answer["answer_id"], "rating": "helpful"}
            await house.web.post("/feedback", json=rating)


async def pictures(tab: Tab) -> None:
    await tab.size(1200, 760)
    await tab.go()
    await taken(tab, "welcome")
    await tab.click(".starters li:first-child .starter")
    await tab.answered()
    await tab.click(".exchange:last-child .marker a")
    await tab.until("document.querySelector('.notes details').open")
    await taken(tab, "chat")
    await tab.go("/admin")
    await tab.until("document.querySelectorAll('.chart canvas').length === 2")
    await taken(tab, "dashboard")
    await tab.prefer(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    await tab.go("/admin/gaps")
    await taken(tab, "gaps")
    await tab.size(390, 760, mobile=True)
    await tab.go()
    await tab.ask("How do I calibrate the weighing plate?")
    await tab.answered()
    await taken(tab, "narrow")


async def taken(tab: Tab, name: str) -> None:
    shot = await tab.do("Page.captureScreenshot", format="png", optimizeForSpeed=False)
    (IMAGES / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    asyncio.run(main())
