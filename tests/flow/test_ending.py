"""Who is told to end ends, also where something cannot be closed any more."""

from __future__ import annotations

import asyncio
import shutil
import signal
from pathlib import Path

from tests.flow.running_house import PATIENCE, footnote, running_house

PAGE = "# Hours\n\nIn summer the reading room opens at 9:30.\n"


async def test_an_index_that_is_gone_keeps_nobody_from_ending(tmp_path: Path) -> None:
    (tmp_path / "hours.md").write_text(PAGE, encoding="utf-8")
    await footnote("ingest", "hours.md", "--book", "library", folder=tmp_path)
    async with running_house(tmp_path) as house:
        shutil.rmtree(tmp_path / "data" / "index")
        house.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            assert await house.process.wait() == 1
    assert "The index in" in "".join(house.said)
