"""An answer that a language model writes and then verifies: marked as unchecked until it is."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.browser.tab import Tab
from tests.flow.running_house import RunningHouse, running_house
from tests.peers.openai import KEY, Calls, Held, OpenAIPeer, Says, query

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUMMER = "When does the reading room open in summer?"
TRUE = "In summer people may enter the reading room from 9:30 on [1]."
INVENTED = "A cinema in its cellar opens with it [1]."
SEARCH = Calls((query("reading room opens in summer"),))
PARTIAL = "document.querySelector('.partial')?.innerText"


def verdicts(*supported: bool) -> Calls:
    words = [{"passage": 1, "text": "the reading room opens at 9:30"}]
    judged: list[dict[str, Any]] = [
        {
            "claim": number,
            "verdict": "supported" if holds else "contradicted",
            "words": words if holds else [],
            "reason": "" if holds else "Passage 1 knows no cinema.",
        }
        for number, holds in enumerate(supported, start=1)
    ]
    return Calls((json.dumps({"verdicts": judged}),), name="report_verdicts")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(library: Path, model: OpenAIPeer) -> AsyncIterator[RunningHouse]:
    async with running_house(library, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=model.url) as running:
        yield running


@pytest.fixture(autouse=True)
def all_is_asked_as_scripted(model: OpenAIPeer) -> Iterator[None]:
    yield
    assert model.refused == []
    assert model.script == []


async def test_what_falls_when_it_is_checked_was_shown_as_unchecked_and_is_gone(
    tab: Tab, model: OpenAIPeer
) -> None:
    checking = Held(verdicts(True, False), after=1)
    model.script += [SEARCH, Says(f"{TRUE} {INVENTED}"), checking, Says(TRUE), verdicts(True)]
    await tab.go()
    await tab.ask(SUMMER)
    await tab.until(f"{PARTIAL}?.includes('cinema')")
    assert (await tab.text(".partial")).startswith("Checking against the documents")
    checking.go_on.set()
    answer = await tab.answered()
    assert "9:30" in answer
    assert "cinema" not in answer
    assert await tab.count(".stage") == 0
