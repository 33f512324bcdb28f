"""An answer while it is written: seen as it comes, and not lost by whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.browser.tab import Tab
from tests.flow.running_house import RunningHouse, running_house
from tests.peers.openai import KEY, Calls, Held, OpenAIPeer, Says, Status, query

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUMMER = "When does the reading room open in summer?"
ANSWER = (
    "In summer the reading room opens at 9:30 [1]. In summer the reading room closes at 20:00 [1]."
)
WRITTEN = "In summer the reading room opens at 9:30"
SEARCH = Calls((query("reading room opens in summer"),))
PARTIAL = "document.querySelector('.partial')?.innerText"


def held() -> Held:
    """An answer that stops in its second sentence."""
    return Held(Says(ANSWER), after=12)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(library: Path, model: OpenAIPeer) -> AsyncIterator[RunningHouse]:
    """Its answers are verified without the model, whose script is the answer's stream alone."""
    async with running_house(
        library, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=model.url, FOOTNOTE_VERIFIER="code"
    ) as running:
        yield running


@pytest.fixture(autouse=True)
def all_is_asked_as_scripted(model: OpenAIPeer) -> Iterator[None]:
    model.script.clear()
    model.requests.clear()
    yield
    assert model.refused == []
    assert model.script == []


async def test_an_answer_is_read_while_it_is_written(tab: Tab, model: OpenAIPeer) -> None:
    answer = held()
    model.script += [SEARCH, answer]
    await tab.go()
    await tab.run(
        "window.said = new Set(); new MutationObserver(() => {"
        "  said.add(document.querySelector('.stage .words')?.innerText)"
        "}).observe(document.body, { subtree: true, childList: true, characterData: true })"
    )
    await tab.ask(SUMMER)
    await tab.until(f"{PARTIAL}?.includes({WRITTEN!r})")
    assert "20:00" not in await tab.text(".partial")
    assert await tab.count("[aria-busy]") == 1
    assert await tab.text(".stage") == "Writing the answer…"
    answer.go_on.set()
    assert "20:00" in await tab.answered()
    assert await tab.count(".stage") == 0
    assert await tab.count(".marker") == 2
    assert set(await tab.run("[...window.said]")) >= {
        "Looking in the documents…",
        "Writing the answer…",
    }


async def test_a_page_that_is_loaded_anew_in_the_middle_gets_the_same_answer(
    tab: Tab, model: OpenAIPeer
) -> None:
    answer = held()
    model.script += [SEARCH, answer]
    await tab.go()
    await tab.ask(SUMMER)
    await tab.until(f"{PARTIAL}?.includes({WRITTEN!r})")
    await tab.reload()
    await tab.until(f"{PARTIAL}?.includes({WRITTEN!r})")
    assert await tab.count(".exchange") == 1
    answer.go_on.set()
    assert "20:00" in await tab.answered()
    assert await tab.count(".exchange") == 1
    assert len(model.requests) == 2


async def test_who_goes_away_in_the_middle_finds_the_answer_later(
    tab: Tab, model: OpenAIPeer
) -> None:
    answer = held()
    model.script += [SEARCH, answer]
    await tab.go()
    await tab.ask(SUMMER)
    await tab.until(PARTIAL)
    thread = await tab.run("location.search")
    await tab.go()
    answer.go_on.set()
    await tab.go(f"/{thread}")
    assert "20:00" in await tab.answered()
    assert len(model.requests) == 2


async def test_two_questions_at_once_are_answered_one_after_the_other(
    tab: Tab, model: OpenAIPeer
) -> None:
    answer = held()
    model.script += [SEARCH, answer]
    await tab.go()
    await tab.ask(SUMMER)
    await tab.until(PARTIAL)
    await tab.ask("When does the reading room close in winter?")
    await tab.until("document.querySelectorAll('.exchange').length === 2")
    assert await tab.text(".exchange:last-child .stage") == "Waiting for a turn…"
    model.script += [
        Calls((query("reading room closes in winter"),)),
        Says("In winter the reading room closes at 17:00 [1]."),
    ]
    answer.go_on.set()
    assert "17:00" in await tab.answered(2)
    assert "20:00" in await tab.text(".exchange:first-child .prose")


async def test_a_failure_is_one_plain_sentence_and_the_question_can_be_asked_again(
    tab: Tab, model: OpenAIPeer, axe_script: str
) -> None:
    model.script += [Status(400, code="context_length_exceeded")]
    await tab.go()
    await tab.ask(SUMMER)
    sentence = await tab.answered()
    assert "vendor" not in sentence
    assert await tab.count(".answer.error") == 1
    assert await tab.count("[data-act='helpful']") == 0
    assert await tab.findings(axe_script) == []
    model.script += [SEARCH, Says(ANSWER)]
    await tab.click("[data-act='retry']")
    assert "9:30" in await tab.answered(2)


async def test_a_growing_answer_is_drawn_as_what_it_will_be(tab: Tab, model: OpenAIPeer) -> None:
    listed = (
        "In summer the **reading room** opens at 9:30 [1].\n\n"
        "- In summer the reading room closes at 20:00 [1].\n"
    )
    answer = Held(Says(listed), after=16)
    model.script += [SEARCH, answer]
    await tab.go()
    await tab.ask(SUMMER)
    await tab.until("document.querySelector('.partial strong')?.innerText === 'reading room'")
    answer.go_on.set()
    assert "20:00" in await tab.answered()
    assert await tab.count(".prose li") == 1


async def test_a_question_is_edited_in_the_middle_of_its_answer(
    tab: Tab, model: OpenAIPeer
) -> None:
    answer = held()
    model.script += [SEARCH, answer]
    await tab.go()
    await tab.ask(SUMMER)
    await tab.until(f"{PARTIAL}?.includes({WRITTEN!r})")
    model.script += [
        Calls((query("reading room closes in winter"),)),
        Says("In winter the reading room closes at 17:00 [1]."),
    ]
    await tab.click("[data-act='edit']")
    await tab.run("document.activeElement.select()")
    await tab.write("When does the reading room close in winter?")
    await tab.click(".editing [type='submit']")
    assert "17:00" in await tab.answered()
    answer.go_on.set()
    await tab.reload()
    assert "17:00" in await tab.answered()
    assert await tab.count(".exchange") == 1
