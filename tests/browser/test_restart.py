"""The server goes away in the middle of an answer, and the page gets it all the same."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.browser.devtools import DevTools
from tests.browser.tab import open_tab
from tests.browser.test_streams import ANSWER, PARTIAL, SEARCH, SUMMER, held
from tests.flow.running_house import running_house
from tests.peers.openai import KEY, Says, openai_peer

pytestmark = pytest.mark.asyncio(loop_scope="session")


FULL = os.environ.get("FOOTNOTE_TESTS") == "full"


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


@pytest.mark.parametrize("killed", [True, False] if FULL else [True])
async def test_an_answer_survives_a_restart_in_the_middle(
    killed: bool, library: Path, browser: DevTools
) -> None:
    async with openai_peer() as model:
        settings = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": model.url,
            "FOOTNOTE_WEB_PORT": free_port(),
        }
        async with (
            running_house(library, **settings) as house,
            open_tab(browser, house.address, key=house.key) as tab,
        ):
            answer = held()
            model.script += [SEARCH, answer]
            await tab.go()
            await tab.ask(SUMMER)
            await tab.until(PARTIAL)
            if killed:
                await house.kill()
            else:
                house.process.terminate()
                answer.go_on.set()
                await house.process.wait()
            model.script += [SEARCH, Says(ANSWER)] if killed else []
            async with running_house(library, **settings):
                assert "20:00" in await tab.answered()
                assert await tab.count(".exchange") == 1
                await tab.reload()
                assert "20:00" in await tab.answered()
            answer.go_on.set()
            # What the browser says of a line that was cut is the point here.
            assert all("ERR_" in complaint for complaint in tab.complaints)
            assert tab.strangers == []
