"""The whole program on PostgreSQL: asked, remembered over a restart, understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flow.running_house import footnote, running_house


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_a_thread_is_remembered_by_the_next_process(tmp_path: Path, empty_url: str) -> None:
    page = tmp_path / "limits.md"
    page.write_text(
        "# Limits\n\n## Free\n\nThe free plan allows ten uploads a day.\n\n"
        "## Team\n\nThe team plan allows ninety uploads a day.\n",
        encoding="utf-8",
    )
    settings = {"DATABASE_URL": empty_url}
    await footnote("ingest", str(page), "--book", "course", folder=tmp_path, settings=settings)
    async with running_house(tmp_path, **settings) as house:
        first = await house.ask(message="How many uploads does the free plan allow?")
    assert "ten uploads" in first["answer"]
    async with running_house(tmp_path, **settings) as house:
        second = await house.ask(message="And the team plan?", session_id=first["session_id"])
    assert "ninety uploads" in second["answer"]
    assert second["session_id"] == first["session_id"]
    assert not (tmp_path / "data" / "footnote.db").exists()
