"""The chat page in a real browser: how heavy, how soon it can be used, how soon words appear.

Run with `python -m benchmarks.page`. The server, the language model and the browser are processes
of this machine; what is printed is the median of several visits and the slowest of them."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.browser.devtools import DevTools, open_chromium
from tests.browser.environment import chromium
from tests.browser.tab import Tab, open_tab
from tests.flow.running_house import RunningHouse, footnote, running_house
from tests.peers.openai import KEY, Calls, Held, OpenAIPeer, Says, openai_peer, query

VISITS = 7
PAGE = "# The reading room\n\nIn summer the reading room opens at 9:30 and closes at 20:00.\n"
QUESTION = "When does the reading room open in summer?"
ANSWER = "In summer the reading room opens at 9:30 [1]."
WEIGHT = (
    "performance.getEntriesByType('resource').map(e => e.decodedBodySize)"
    ".concat(performance.getEntriesByType('navigation').map(e => e.decodedBodySize))"
    ".reduce((sum, size) => sum + size, 0)"
)
USABLE = (
    "Math.max(performance.getEntriesByType('navigation')[0].loadEventEnd,"
    " ...performance.getEntriesByType('paint').map(e => e.startTime))"
)
WATCH = """new MutationObserver(() => {
  if (!window.seen && document.querySelector('.partial')?.innerText.trim())
    window.seen = performance.timeOrigin + performance.now();
}).observe(document.body, { subtree: true, childList: true, characterData: true }); null"""


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "room.md").write_text(PAGE, encoding="utf-8")
        await footnote("ingest", "room.md", "--book", "library", folder=folder)
        async with (
            openai_peer() as model,
            running_house(folder, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=model.url) as house,
            open_chromium(chromium(), folder / "profile") as browser,
        ):
            await first_visits(browser, house)
            await first_words(browser, house, model)


async def first_visits(browser: DevTools, house: RunningHouse) -> None:
    """Each in a context of its own, so that nothing is in a cache."""
    weights, times = [], []
    for _ in range(VISITS):
        async with open_tab(browser, house.address, key=house.key) as tab:
            await tab.go()
            await tab.until("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
            await tab.until("document.activeElement.id === 'question'")
            weights.append(await tab.run(WEIGHT))
            times.append(await tab.run(USABLE))
    print(f"the chat page weighs {max(weights) / 1000:.0f} kB (wanted: under 300)")
    show("it can be used after", times, wanted=1_000)


async def first_words(browser: DevTools, house: RunningHouse, model: OpenAIPeer) -> None:
    async with open_tab(browser, house.address, key=house.key) as tab:
        times = [await until_seen(tab, model) for _ in range(VISITS)]
    show("words stand on the page after the model wrote them by", times, wanted=100)


async def until_seen(tab: Tab, model: OpenAIPeer) -> float:
    """Milliseconds from the model's first words to their sight."""
    answer = Held(Says(ANSWER), after=1)
    model.script += [Calls((query("reading room opens in summer"),)), answer]
    await tab.go()
    await tab.run(WATCH)
    await tab.ask(QUESTION)
    await tab.until("document.querySelector('.stage')?.innerText.includes('Writing')")
    await asyncio.sleep(0.3)  # the model waits in the middle of its stream
    began = time.time() * 1_000
    answer.go_on.set()
    await tab.answered()
    return float(await tab.run("window.seen")) - began


def show(what: str, times: list[float], *, wanted: int) -> None:
    print(f"{what} {median(times):.0f} ms, at the slowest {max(times):.0f} (wanted: {wanted})")


if __name__ == "__main__":
    asyncio.run(main())
